package plugin

import "io/fs"

// File is one file of a plugin.
type File struct {
	Path string // slash-separated, relative to the plugin's root
	Data []byte
	Mode fs.FileMode
}

// Tree is the files of a plugin, sorted by path.
type Tree []File
