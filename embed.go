// Package copilotmem is what the program carries with it: the manifest of this repository as a plugin, and its assets.
// It holds no code.
package copilotmem

import "embed"

// Files has plugin.json, the one place where the version is written, and the folder assets. Modes are lost by
// embedding: internal/render decides them.
//
//go:embed plugin.json assets
var Files embed.FS
