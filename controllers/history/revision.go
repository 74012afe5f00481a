package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// maxPrefix leaves room for a dash and a hash within the length of a name.
const maxPrefix = 223

// Data is what a revision holds: a strategic merge patch that replaces the template.
func Data(template *corev1.PodTemplateSpec) ([]byte, error) {
	encoded, err := json.Marshal(template)
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	fields["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": fields}}) // with sorted keys
}

// Template is the one that a revision holds.
func Template(revision *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var data struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		return nil, fmt.Errorf("data of ControllerRevision %s: %w", revision.Name, err)
	}
	return &data.Spec.Template, nil
}

// DataHash is the hash that names the revisions of StatefulSets. A collision
// count gives the same data another one.
func DataHash(data []byte, collisionCount int32) string {
	hash := fnv.New32()
	_, _ = hash.Write(data)
	_, _ = hash.Write([]byte(strconv.Itoa(int(collisionCount))))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
}

// Name is that of an owner's revision with a hash.
func Name(owner, hash string) string {
	return owner[:min(len(owner), maxPrefix)] + "-" + hash
}

// Sort puts the current revision last. Of equal numbers the older one comes first.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// Find returns the latest of sorted revisions that holds the data, nil if none does.
func Find(sorted []*appsv1.ControllerRevision, data []byte) *appsv1.ControllerRevision {
	for _, revision := range slices.Backward(sorted) {
		if sameData(revision.Data.Raw, data) {
			return revision
		}
	}
	return nil
}

// sameData compares documents. Servers may keep them with other spaces and escapes.
func sameData(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	canonicalA, err := canonical(a)
	if err != nil {
		return false
	}
	canonicalB, err := canonical(b)
	return err == nil && bytes.Equal(canonicalA, canonicalB)
}

func canonical(data []byte) ([]byte, error) {
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

// Next is the number of the next revision.
func Next(sorted []*appsv1.ControllerRevision) int64 {
	if len(sorted) == 0 {
		return 1
	}
	return sorted[len(sorted)-1].Revision + 1
}

// Expendable are the revisions beyond a limit that nothing lives on, the
// earliest first.
func Expendable(sorted []*appsv1.ControllerRevision, limit *int32, lives func(name string) bool) []*appsv1.ControllerRevision {
	if limit == nil || *limit < 0 {
		return nil
	}
	var past []*appsv1.ControllerRevision
	for _, revision := range sorted {
		if !lives(revision.Name) {
			past = append(past, revision)
		}
	}
	return past[:max(0, len(past)-int(*limit))]
}
