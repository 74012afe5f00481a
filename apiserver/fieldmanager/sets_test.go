package fieldmanager

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sets that are in use stay, others are forgotten.
func TestSets(t *testing.T) {
	var c Sets
	used, err := c.read(metav1.NewFieldsV1(`{"f:used":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxSets {
		if _, err := c.read(metav1.NewFieldsV1(fmt.Sprintf(`{"f:x%d":{}}`, i))); err != nil {
			t.Fatal(err)
		}
		if again, err := c.read(metav1.NewFieldsV1(`{"f:used":{}}`)); err != nil || again != used {
			t.Fatalf("a set in use was forgotten after %d others: %v", i, err)
		}
	}
	if n := len(c.young.sets) + len(c.old.sets); n > 2*maxSets {
		t.Errorf("%d sets are kept, want at most %d", n, 2*maxSets)
	}
	if fields, err := c.write(used); err != nil || fields.GetRawString() != `{"f:used":{}}` {
		t.Errorf("written as %v, %v", fields, err)
	}
	if _, err := c.read(metav1.NewFieldsV1(`{"f:`)); err == nil {
		t.Error("broken fields were read")
	}
	if set, err := c.read(nil); err != nil || !set.Empty() {
		t.Errorf("no fields are %v, %v", set, err)
	}
}
