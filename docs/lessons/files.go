// Package lessons holds the texts of the lessons, each in English (NAME.md) and in
// Chinese (NAME.zh.md). Package lesson reads and runs them.
package lessons

import "embed"

// Files are all of them.
//
//go:embed *.md
var Files embed.FS
