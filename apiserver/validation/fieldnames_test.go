package validation

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestByFieldName(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{[]string{"a"}, `["a"]`},
		{corev1.Toleration{Key: "k"}, `{"Key":"k","Operator":"","Value":"","Effect":"","TolerationSeconds":null}`},
		{corev1.ObjectFieldSelector{FieldPath: "p"}, `{"APIVersion":"","FieldPath":"p"}`},
		{corev1.ResourceList{"cpu": resource.MustParse("1500m")}, `{"cpu":"1500m"}`},
		{[]corev1.SecretReference{{Name: "n"}}, `[{"Name":"n","Namespace":""}]`},
		{corev1.PersistentVolumeClaimTemplate{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}},
			`{"labels":{"a":"b"},"Spec":{"AccessModes":null,"Selector":null,"Resources":{"Limits":null,"Requests":null},"VolumeName":"",` +
				`"StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,"VolumeAttributesClassName":null}}`},
	} {
		got, err := json.Marshal(byFieldName(c.value))
		if err != nil || string(got) != c.want {
			t.Errorf("%#v:\n got %s %v\nwant %s", c.value, got, err, c.want)
		}
	}
}
