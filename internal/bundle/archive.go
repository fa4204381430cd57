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

// archives writes <name>_<version>[_<os>_<arch>] as tar.gz and zip. Both unpack into one folder, the plugin's name.
func (b *builder) archives(p Pack) {
	base := b.result.Name + "_" + b.result.Version
	if p.Target != Any {
		base += "_" + strings.ReplaceAll(p.Target, "/", "_")
	}
	for _, a := range []struct {
		kind string
		pack func(plugin.Tree, string, time.Time) ([]byte, error)
	}{{"tar.gz", TarGz}, {"zip", Zip}} {
		if b.err != nil {
			return
		}
		var data []byte
		data, b.err = a.pack(p.Tree, b.result.Name, b.time)
		b.file(base+"."+a.kind, a.kind, p.Target, data)
	}
}

// TarGz packs the files below one folder: regular files only, each with that time, mode 0755 or 0644 and no owner.
func TarGz(tree plugin.Tree, folder string, at time.Time) ([]byte, error) {
	var buf bytes.Buffer
	gz, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(gz)
	for _, f := range tree {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.Path), Size: int64(len(f.Data)), Mode: int64(mode(f)), ModTime: at.UTC().Truncate(time.Second),
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

// Zip does the same as a zip file.
func Zip(tree plugin.Tree, folder string, at time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range tree {
		h := &zip.FileHeader{Name: path.Join(folder, f.Path), Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)}
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
