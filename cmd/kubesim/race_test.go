//go:build race

package main

// raceDetector is true where data races end a test, those of kubectl too.
const raceDetector = true
