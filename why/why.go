package why

import (
	"context"
	"fmt"
	"io"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/kubesim/kubesim/trace"
)

// Asker answers.
type Asker struct {
	Client   kubernetes.Interface
	Metadata metadata.Interface
	Spans    []trace.Span // what the API server remembers; may be empty
	Now      time.Time
}

// Explain writes the answer about an object, which the spans call traceName
// and the user calls name.
func (a *Asker) Explain(ctx context.Context, out io.Writer, obj *unstructured.Unstructured, name, traceName string) error {
	sentence, err := a.Sentence(ctx, obj)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s %s.\n", name, sentence); err != nil {
		return err
	}
	if obj.GroupVersionKind().GroupKind() != v1.SchemeGroupVersion.WithKind("Pod").GroupKind() {
		return nil
	}
	pod := &v1.Pod{}
	if err := convert(obj, pod); err != nil {
		return err
	}
	return a.scheduling(ctx, out, pod, traceName)
}

func convert(obj *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into); err != nil {
		return fmt.Errorf("reading %s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}
