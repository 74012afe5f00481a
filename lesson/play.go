package lesson

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Player leads through a lesson at a terminal.
type Player struct {
	In       *bufio.Reader
	Out      io.Writer
	Language string
	Auto     bool // run everything without asking
	Color    bool
}

// errQuit is the end that the reader asked for.
var errQuit = errors.New("quit")

// Play runs a lesson from its start to its end. An error says that the engine did
// not do what the lesson says.
func (p *Player) Play(ctx context.Context, l Lesson) error {
	p.head(fmt.Sprintf("%d · %s", l.Number, l.Title))
	p.text(l.Intro)
	session, err := StartSession(ctx, l.Start)
	if err != nil {
		return err
	}
	p.text(p.say(sayPage, session.URL()+"/ui/"))
	right, asked, err := p.steps(ctx, session, l)
	switch {
	case errors.Is(err, errQuit):
		err = nil
	case err == nil && asked > 0 && !p.Auto:
		p.text(p.say(sayScore, right, asked))
	}
	return errors.Join(err, session.Close())
}

func (p *Player) steps(ctx context.Context, session *Session, l Lesson) (right, asked int, err error) {
	for i := range l.Steps {
		step := &l.Steps[i]
		p.head(fmt.Sprintf("%d/%d  %s", i+1, len(l.Steps), step.Title))
		p.text(step.Text)
		guess, skip, err := p.ask(ctx, step)
		if err != nil {
			return right, asked, err
		}
		if step.Script == "" || skip {
			continue
		}
		output, err := session.Run(ctx, step.Script, p.Out)
		if err != nil {
			return right, asked, err
		}
		if missing := step.Missing(output); len(missing) > 0 {
			return right, asked, fmt.Errorf("lesson %d, step %d: the commands did not print %q", l.Number, i+1, missing)
		}
		if step.Answer != "" {
			asked++
			if guess == step.Answer {
				right++
			}
			p.verdict(guess, step.Answer)
		}
		p.text(step.After)
	}
	return right, asked, nil
}

// ask waits for the reader: for a guess if the step has choices, else for a key.
func (p *Player) ask(ctx context.Context, step *Step) (guess string, skip bool, err error) {
	for _, c := range step.Choices {
		fmt.Fprintf(p.Out, "  %s) %s\n", c.Letter, c.Text)
	}
	if step.Script != "" {
		fmt.Fprintln(p.Out)
		for line := range strings.Lines(step.Script) {
			fmt.Fprint(p.Out, p.paint("36", "    "+strings.TrimSuffix(line, "\n"))+"\n")
		}
		fmt.Fprintln(p.Out)
	}
	for !p.Auto {
		prompt := sayContinue
		switch {
		case len(step.Choices) > 0:
			prompt = sayGuess
		case step.Script != "":
			prompt = sayRun
		}
		fmt.Fprint(p.Out, p.paint("1", p.say(prompt))+" ")
		line, err := p.line(ctx)
		switch {
		case err != nil:
			return "", false, err
		case line == "q":
			return "", false, errQuit
		case line == "s":
			return "", true, nil
		case len(step.Choices) == 0, line == "":
			return "", false, nil
		}
		for _, c := range step.Choices {
			if c.Letter == line {
				return line, false, nil
			}
		}
	}
	return "", false, nil
}

// line reads one; the end of the input is the reader's end.
func (p *Player) line(ctx context.Context) (string, error) {
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := p.In.ReadString('\n')
		read <- answer{strings.ToLower(strings.TrimSpace(line)), err}
	}()
	select {
	case a := <-read:
		if errors.Is(a.err, io.EOF) && a.line == "" {
			return "", errQuit
		}
		return a.line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *Player) verdict(guess, right string) {
	switch guess {
	case "":
		p.text(p.say(sayAnswer, right))
	case right:
		p.text(p.paint("32", p.say(sayRight, right)))
	default:
		p.text(p.paint("31", p.say(sayWrong, guess, right)))
	}
}

func (p *Player) say(w sentence, values ...any) string {
	return fmt.Sprintf(w.in(p.Language), values...)
}

func (p *Player) head(text string) { fmt.Fprintf(p.Out, "\n%s\n", p.paint("1", text)) }

func (p *Player) text(text string) {
	if text != "" {
		fmt.Fprintf(p.Out, "\n%s\n", text)
	}
}

func (p *Player) paint(code, text string) string {
	if !p.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
