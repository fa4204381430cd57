package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"path"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// epoch is the time of every file in an archive: the earliest that zip can hold.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// archives writes <name>_<version>[_<os>_<arch>] as tar.gz and zip. Both unpack into one folder, the plugin's name.
func (b *builder) archives(tree plugin.Tree, target string) {
	if b.err != nil {
		return
	}
	base := b.result.Name + "_" + b.result.Version
	if target != Any {
		base += "_" + strings.ReplaceAll(target, "/", "_")
	}
	for _, a := range []struct {
		kind string
		pack func(plugin.Tree, string) ([]byte, error)
	}{{"tar.gz", tarGz}, {"zip", zipped}} {
		data, err := a.pack(tree, b.result.Name)
		if err != nil {
			b.err = err
			return
		}
		b.file(base+"."+a.kind, a.kind, target, data)
	}
}

func tarGz(tree plugin.Tree, folder string) ([]byte, error) {
	var buf bytes.Buffer
	gz, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(gz)
	for _, f := range tree {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.Path), Size: int64(len(f.Data)), Mode: int64(mode(f)), ModTime: epoch,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = gz.Close()
	return buf.Bytes(), err
}

func zipped(tree plugin.Tree, folder string) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range tree {
		h := &zip.FileHeader{Name: path.Join(folder, f.Path), Method: zip.Deflate, Modified: epoch}
		h.SetMode(mode(f))
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}
