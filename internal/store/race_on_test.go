//go:build race

package store

// The race detector looks inside one process and slows SQLite thirtyfold: other processes need not do much under it.
const childEntries = 10
