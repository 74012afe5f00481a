package children

import (
	"encoding/binary"
	"hash/fnv"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
	"strconv"
)

// TemplateHash is the pod-template-hash of a template. The collision count
// gives a template another hash when an unrelated object took the first one's name.
func TemplateHash(template *corev1.PodTemplateSpec, collisionCount *int32) string {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, dump.ForHash(*template))
	if collisionCount != nil {
		count := make([]byte, 8)
		binary.LittleEndian.PutUint32(count, uint32(*collisionCount))
		_, _ = hash.Write(count)
	}
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
}
