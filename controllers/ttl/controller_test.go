package ttl

import "testing"

func TestNextLevel(t *testing.T) {
	for _, test := range []struct{ present, nodes, want int }{
		{0, 3, 0}, {0, 100, 0}, {0, 101, 1}, {1, 95, 1}, {1, 89, 0}, {0, 5000, 4}, {4, 1900, 4}, {4, 10, 0},
	} {
		if got := next(test.present, test.nodes); got != test.want {
			t.Errorf("from %d with %d nodes: level %d, want %d", test.present, test.nodes, got, test.want)
		}
	}
}
