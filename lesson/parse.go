package lesson

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/kubesim/kubesim/docs/lessons"
)

// Languages are those in which each lesson is written.
var Languages = []string{"en", "zh"}

// Lesson is one text.
type Lesson struct {
	Number int    `json:"number"`
	Name   string `json:"name"` // of its file, without number and ending
	Title  string `json:"title"`
	Idea   string `json:"idea"` // in one sentence
	Start  Start  `json:"-"`
	Intro  string `json:"intro"` // Markdown, as are all texts
	Steps  []Step `json:"steps"`
}

// Start says what the cluster is like, in the front matter.
type Start struct {
	Nodes       int      `yaml:"nodes"`
	Controllers []string `yaml:"controllers"` // as the flag --controllers
	Paused      bool     `yaml:"paused"`      // its clock
}

// Step is one thing to do.
type Step struct {
	Title   string   `json:"title"`
	Text    string   `json:"text"`
	Choices []Choice `json:"choices,omitempty"` // of a prediction
	Script  string   `json:"script,omitempty"`
	After   string   `json:"after,omitempty"` // to read when the commands have run
	Expect  []string `json:"-"`               // what they print
	Answer  string   `json:"-"`               // the right choice
}

// Choice is one that a reader has.
type Choice struct {
	Letter string `json:"letter"`
	Text   string `json:"text"`
}

// All are the lessons in one language, by number.
func All(language string) ([]Lesson, error) {
	names, err := fs.Glob(lessons.Files, "[0-9]*.md")
	if err != nil {
		return nil, err
	}
	var all []Lesson
	for _, name := range names {
		if strings.HasSuffix(name, ".zh.md") != (language == "zh") {
			continue
		}
		text, err := lessons.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		l, err := Parse(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Lesson) int { return cmp.Compare(a.Number, b.Number) })
	return all, nil
}

var (
	fileName = regexp.MustCompile(`^(\d+)-([a-z0-9-]+?)(\.zh)?\.md$`)
	block    = regexp.MustCompile("(?s)```sh\n(.*?)```\n?")
	comment  = regexp.MustCompile(`<!-- (expect|answer): (.*?) -->\n?`)
	choice   = regexp.MustCompile(`(?m)^- ([a-d])\) (.*)\n?`)
	answer   = regexp.MustCompile(`^([a-d]), as: (.+)$`)
)

// Parse reads a lesson.
func Parse(name, text string) (l Lesson, err error) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return l, errors.New("the file must be named NUMBER-WORDS.md or NUMBER-WORDS.zh.md")
	}
	l.Number, _ = strconv.Atoi(m[1])
	l.Name = m[2]
	front, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		return l, errors.New("it must begin with front matter between lines of ---")
	}
	var head struct {
		Idea  string `yaml:"idea"`
		Start `yaml:",inline"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(front))
	decoder.KnownFields(true)
	if err := decoder.Decode(&head); err != nil {
		return l, err
	}
	l.Idea, l.Start = head.Idea, head.Start
	intro, rest, _ := strings.Cut(strings.TrimSpace(body)+"\n", "\n## ")
	title, intro, _ := strings.Cut(intro, "\n")
	l.Title, l.Intro = strings.TrimPrefix(title, "# "), strings.TrimSpace(intro)
	if l.Title == "" || l.Idea == "" {
		return l, errors.New("it needs a heading and an idea")
	}
	for part := range strings.SplitSeq(rest, "\n## ") {
		s, err := parseStep(part)
		if err != nil {
			return l, fmt.Errorf("step %d: %w", len(l.Steps)+1, err)
		}
		l.Steps = append(l.Steps, s)
	}
	return l, nil
}

func parseStep(text string) (s Step, err error) {
	title, body, _ := strings.Cut(text, "\n")
	s.Title = strings.TrimSpace(title)
	before, after := body, ""
	if at := block.FindStringSubmatchIndex(body); at != nil {
		before, s.Script, after = body[:at[0]], body[at[2]:at[3]], body[at[1]:]
	}
	if strings.Contains(after, "```sh\n") {
		return s, errors.New("more than one block of commands")
	}
	for _, m := range choice.FindAllStringSubmatch(before, -1) {
		s.Choices = append(s.Choices, Choice{Letter: m[1], Text: m[2]})
	}
	for _, m := range comment.FindAllStringSubmatch(after, -1) {
		if m[1] == "expect" {
			s.Expect = append(s.Expect, m[2])
			continue
		}
		a := answer.FindStringSubmatch(m[2])
		if a == nil {
			return s, fmt.Errorf("answer %q: must be LETTER, as: TEXT", m[2])
		}
		s.Answer = a[1]
		s.Expect = append(s.Expect, a[2])
	}
	s.Text = strings.TrimSpace(choice.ReplaceAllString(before, ""))
	s.After = strings.TrimSpace(comment.ReplaceAllString(after, ""))
	return s, s.validate()
}

func (s *Step) validate() error {
	switch {
	case s.Title == "":
		return errors.New("it needs a heading")
	case s.Script != "" && len(s.Expect) == 0:
		return errors.New("nothing says what its commands print")
	case s.Script == "" && len(s.Expect) > 0:
		return errors.New("something is expected of no command")
	case (len(s.Choices) > 0) != (s.Answer != ""):
		return errors.New("choices and an answer go together")
	case s.Answer != "" && !slices.ContainsFunc(s.Choices, func(c Choice) bool { return c.Letter == s.Answer }):
		return fmt.Errorf("answer %s is none of the choices", s.Answer)
	}
	return nil
}

// Missing are the expected texts that an output lacks.
func (s *Step) Missing(output string) []string {
	return slices.DeleteFunc(slices.Clone(s.Expect), func(text string) bool { return strings.Contains(output, text) })
}
