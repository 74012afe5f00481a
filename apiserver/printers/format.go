package printers

import (
	"fmt"
	"strings"
)

// shownAtMost is how many entries of a list a cell shows.
const shownAtMost = 3

// join lists what of returns for each entry.
func join[T any](entries []T, of func(T) string) string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = of(e)
	}
	return strings.Join(out, ",")
}

// clipped lists entries up to a maximum, and says how many more there are.
func clipped(entries []string, most int, separator string) string {
	if len(entries) <= most {
		return strings.Join(entries, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(entries[:most], separator), len(entries)-most)
}

// or is the text, or what stands for none.
func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// value is what a pointer leads to, or otherwise.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// word is value for strings and their like.
func word[T ~string](p *T, otherwise string) string {
	if p == nil {
		return otherwise
	}
	return string(*p)
}
