// Package simclock is a clock that a user controls: it runs fast or slowly, stands
// still, takes a step to the next timer, or jumps ahead.
//
//	clock.go    the clock: what time it is, and when timers are due
//	timer.go    timers and tickers
//	control.go  the HTTP handler and client of `kubesim clock`
//
// A jump fires every timer on its way at its own time, in order, and gives those
// who wait for it a moment to act, so that what happens in five minutes of a jump
// is what happens in five minutes.
package simclock
