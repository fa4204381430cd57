//go:build !race

package store

const childEntries = 50
