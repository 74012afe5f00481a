package job

import (
	"fmt"
	"testing"
)

func TestIndexes(t *testing.T) {
	for _, test := range []struct {
		text        string
		completions int
		want        string
		total       int
	}{
		{"", 5, "", 0},
		{"0-2", 5, "0-2", 3},
		{"1,3-5,7", 10, "1,3-5,7", 5},
		{"1,2", 5, "1,2", 2},
		{"3-9", 5, "3,4", 2},
		{"7,1", 5, "1", 1},
		{"x,2", 5, "2", 1},
	} {
		if x := parseIndexes(test.text, test.completions); x.String() != test.want || x.total() != test.total {
			t.Errorf("%q of %d: %s, %d of them; want %s, %d", test.text, test.completions, x, x.total(), test.want, test.total)
		}
	}
	x := parseIndexes("1,3-5", 10)
	if got := x.with(6, 2, 9, 3).String(); got != "1-6,9" {
		t.Errorf("with more: %s", got)
	}
	if x.String() != "1,3-5" || x.with().String() != "1,3-5" {
		t.Errorf("changed to %s", x)
	}
	for index, want := range map[int]bool{0: false, 1: true, 2: false, 3: true, 5: true, 6: false} {
		if x.has(index) != want {
			t.Errorf("has %d: %t", index, !want)
		}
	}
	if got := fmt.Sprint(x.missing(4, 10), x.missing(9, 7), indexes(nil).missing(2, 3)); got != "[0 2 6 7] [0 2 6] [0 1]" {
		t.Errorf("missing %s", got)
	}
	if n := x.common(parseIndexes("0,4-8", 10)); n != 2 {
		t.Errorf("%d in common", n)
	}
}
