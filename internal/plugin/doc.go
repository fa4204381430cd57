// Package plugin says what a plugin on disk is: its files, its manifest, its skills, agents and hook files, each
// with the place in the file where a value stands.
//
// It does not judge (package validate), decide which files ours has (package render), or write anything.
package plugin
