package lesson

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLessons runs each lesson's commands, and holds what they print to its text.
// The languages differ in their words alone.
func TestLessons(t *testing.T) {
	byLanguage := map[string][]Lesson{}
	for _, language := range Languages {
		all, err := All(language)
		if err != nil {
			t.Fatal(err)
		}
		byLanguage[language] = all
	}
	english, chinese := byLanguage["en"], byLanguage["zh"]
	if len(english) == 0 || len(english) != len(chinese) {
		t.Fatalf("%d lessons in English, %d in Chinese", len(english), len(chinese))
	}
	for i, l := range english {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			sameCommands(t, l, chinese[i])
			var printed strings.Builder
			player := &Player{Out: &printed, Auto: true, Language: "en"}
			if err := player.Play(t.Context(), l); err != nil {
				t.Fatalf("%v\n%s", err, printed.String())
			}
		})
	}
}

// sameCommands compares all that is not text for the reader.
func sameCommands(t *testing.T, a, b Lesson) {
	t.Helper()
	if a.Name != b.Name || len(a.Steps) != len(b.Steps) {
		t.Fatalf("%s has %d steps in English, %s has %d in Chinese", a.Name, len(a.Steps), b.Name, len(b.Steps))
	}
	if diff := cmp.Diff(a.Start, b.Start); diff != "" {
		t.Error(diff)
	}
	type commands struct {
		Script, Answer string
		Expect         []string
		Choices        int
	}
	for i := range a.Steps {
		of := func(s Step) commands { return commands{s.Script, s.Answer, s.Expect, len(s.Choices)} }
		if diff := cmp.Diff(of(a.Steps[i]), of(b.Steps[i])); diff != "" {
			t.Errorf("step %d differs:\n%s", i+1, diff)
		}
		if hasChinese(a.Steps[i].Title+a.Steps[i].Text) || !hasChinese(b.Steps[i].Title+b.Steps[i].Text) {
			t.Errorf("step %d is not in the language of its file", i+1)
		}
	}
}

func hasChinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff })
}
