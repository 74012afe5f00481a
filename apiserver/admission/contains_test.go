package admission

import (
	"fmt"
	"reflect"
)

// contains returns where got first lacks something of want, "" if nowhere.
// Objects may have more than is wanted; lists may not.
func contains(path string, want, got any) string {
	object, ok := want.(map[string]any)
	if !ok {
		if list, isList := want.([]any); isList {
			return containsList(path, list, got)
		}
		if !reflect.DeepEqual(want, got) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		return ""
	}
	fields, _ := got.(map[string]any)
	for key, value := range object {
		if d := contains(path+"."+key, value, fields[key]); d != "" {
			return d
		}
	}
	return ""
}

func containsList(path string, want []any, got any) string {
	items, _ := got.([]any)
	if len(items) != len(want) {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	for i := range want {
		if d := contains(fmt.Sprintf("%s[%d]", path, i), want[i], items[i]); d != "" {
			return d
		}
	}
	return ""
}
