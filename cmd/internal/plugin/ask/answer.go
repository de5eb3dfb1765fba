package ask

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

type answerFlags struct {
	json, reason string
	decline      bool
}

func answerCommand(load func() (Settings, error)) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use: "answer [ID [ANSWER...]]", Short: "Answer an open question from a shell",
		Long: `Answer an open question of the running deck with an option's label or number, or with a text of
your own. A request of several questions takes an answer to each, and a question that allows
several options takes several. At a terminal, mcpdeck asks for what you leave out.

The deck must allow it: ask.cli_answers is off, pair or passphrase. The command "let a shell
answer" in the deck's list of commands (:) shows a pairing code, which is valid once, or sets the
passphrase. This command prompts for it on the terminal and never reads it from arguments, the
environment or standard input. Programs started by agents may not answer.

With --json, the answers are a JSON list with one object per question: its id, and
selectedOptions, customInput, notes, skipped or clarify. A server's form is answered with its id
and content, the object that it asks for.`,
		Example: `  mcpdeck ask answer
  mcpdeck ask answer 3 OAuth
  mcpdeck ask answer 4 --json '{"id":"form","content":{"name":"Ana","nights":3}}'
  mcpdeck ask answer 3 --decline --reason "not now"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			s, err := load()
			if err != nil {
				return err
			}
			client := questions.NewClient(questions.ClientOptions{Path: s.Socket, Prove: prompt.Proof})
			if f.decline {
				id, _ := strconv.Atoi(args[0]) // checked
				return noDeck(client.Decline(id, f.reason))
			}
			id, results, err := f.answers(c, args, client.List)
			if err != nil {
				return noDeck(err)
			}
			return noDeck(client.Answer(id, results))
		},
	}
	c.Flags().StringVar(&f.json, "json", "", "the answers as JSON; - reads them from standard input")
	c.Flags().BoolVar(&f.decline, "decline", false, "decline the request")
	c.Flags().StringVar(&f.reason, "reason", "", "the reason for declining")
	return c
}

// atTerminal reports whether what is left out can be asked for.
func atTerminal() bool { return term.IsTerminal(os.Stdin.Fd()) }

func (f *answerFlags) check(args []string) error {
	if len(args) == 0 {
		if f.json != "" || f.decline || !atTerminal() {
			return exit.Usagef("give the number of a question, as shown by mcpdeck ask list, and the answers")
		}
		return nil
	}
	if id, err := strconv.Atoi(args[0]); err != nil || id <= 0 {
		return exit.Usagef("%q is not the number of a question", args[0])
	}
	switch {
	case len(args) > 1 && (f.json != "" || f.decline):
		return exit.Usagef("give either answers, --json or --decline")
	case len(args) == 1 && f.json == "" && !f.decline && !atTerminal():
		return exit.Usagef("give the answers, also as --json, or --decline")
	}
	return nil
}

// answers are those of the command line or, if it has none, of a dialog. What is answered is
// shown before.
func (f *answerFlags) answers(c *cobra.Command, args []string, list func() ([]questions.Listed, error)) (int, []questions.Result, error) {
	if f.json != "" {
		id, _ := strconv.Atoi(args[0]) // checked
		results, err := fromJSON(c.InOrStdin(), f.json)
		return id, results, err
	}
	items, err := list()
	if err != nil {
		return 0, nil, err
	}
	in := bufio.NewReader(c.InOrStdin())
	it, err := chosen(in, c.ErrOrStderr(), items, args)
	if err != nil {
		return 0, nil, err
	}
	words := args[min(len(args), 1):]
	given := make([][]string, len(it.Questions))
	switch n := len(it.Questions); {
	case len(words) == 0:
		if given, err = asked(in, c.ErrOrStderr(), it.Questions); err != nil {
			return 0, nil, err
		}
	case n == 1:
		given[0] = words
	case len(words) != n:
		return 0, nil, exit.Usagef("it has %s: give an answer for each, or use --json", humanize.Count(n, "question"))
	default:
		for i, w := range words {
			given[i] = []string{w}
		}
	}
	results := make([]questions.Result, len(given))
	for i, words := range given {
		if results[i], err = result(it.Questions[i], words); err != nil {
			return 0, nil, err
		}
	}
	return it.ID, results, nil
}

// chosen shows what is answered: the item with the number of the arguments, or the one that
// the user picks.
func chosen(in *bufio.Reader, w io.Writer, items []questions.Listed, args []string) (questions.Listed, error) {
	at := 0
	if len(args) > 0 {
		id, _ := strconv.Atoi(args[0]) // checked
		if at = slices.IndexFunc(items, func(it questions.Listed) bool { return it.ID == id }); at < 0 {
			return questions.Listed{}, fmt.Errorf("answer %d: no open question has this number; mcpdeck ask list shows them", id)
		}
		items, at = items[at:at+1], 0
	}
	printList(w, items, time.Now())
	if len(items) == 0 {
		return questions.Listed{}, exit.Failed
	}
	if len(items) > 1 {
		fmt.Fprint(w, "Answer which? ")
		line, err := in.ReadString('\n')
		id, numErr := strconv.Atoi(strings.TrimSpace(line))
		if at = slices.IndexFunc(items, func(it questions.Listed) bool { return it.ID == id }); err != nil || numErr != nil || at < 0 {
			return questions.Listed{}, exit.Usagef("%q is not the number of a question", strings.TrimSpace(line))
		}
	}
	return items[at], nil
}

// asked asks for the answer of each question on a line of its own.
func asked(in *bufio.Reader, w io.Writer, qs []questions.Question) ([][]string, error) {
	out := make([][]string, len(qs))
	for i, q := range qs {
		fmt.Fprintln(w, sanitize.Line(q.Question))
		for n, o := range q.Options {
			fmt.Fprintf(w, "%3d %s\n", n+1, sanitize.Line(o.Label))
		}
		switch {
		case q.Multi:
			fmt.Fprint(w, "Numbers, with spaces between them: ")
		case len(q.Options) > 0 && q.AllowOther:
			fmt.Fprint(w, "Number, or your own answer: ")
		case len(q.Options) > 0:
			fmt.Fprint(w, "Number: ")
		default:
			fmt.Fprint(w, "Answer: ")
		}
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); err != nil || line == "" {
			return nil, fmt.Errorf("question %q: not answered; nothing was sent", q.ID)
		}
		out[i] = []string{line}
		if q.Multi {
			out[i] = strings.Fields(line)
		}
	}
	return out, nil
}

// result is an answer by labels or numbers of options, else by a text of the user's own.
func result(q questions.Question, words []string) (questions.Result, error) {
	r := questions.Result{ID: q.ID, SelectedOptions: []string{}}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, sanitize.Line(o.Label))
	}
	if q.Kind == questions.Form {
		return r, exit.Usagef("%s is a form: answer it with --json", q.ID)
	}
	for _, word := range words {
		at := slices.IndexFunc(labels, func(l string) bool { return strings.EqualFold(l, word) })
		if n, err := strconv.Atoi(word); at < 0 && err == nil && n >= 1 && n <= len(labels) {
			at = n - 1
		}
		switch {
		case at >= 0:
			r.SelectedOptions = append(r.SelectedOptions, q.Options[at].Label)
		case r.CustomInput == "" && (q.AllowOther || len(labels) == 0):
			r.CustomInput = word
		default:
			return r, exit.Usagef("%s: %q is not one of its options: %s", q.ID, word, strings.Join(labels, ", "))
		}
	}
	if n := len(r.SelectedOptions); !q.Multi && (n > 1 || n == 1 && r.CustomInput != "") {
		return r, exit.Usagef("%s takes one answer", q.ID)
	}
	return r, nil
}

// fromJSON reads answers; - stands for standard input.
func fromJSON(in io.Reader, raw string) ([]questions.Result, error) {
	if raw == "-" {
		b, err := io.ReadAll(io.LimitReader(in, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("read the answers: %w", err)
		}
		raw = string(b)
	}
	if strings.HasPrefix(strings.TrimSpace(raw), "{") {
		raw = "[" + raw + "]"
	}
	var results []questions.Result
	if err := json.Unmarshal([]byte(raw), &results); err != nil {
		return nil, exit.Usagef("the answers are not a JSON list of results: %v", err)
	}
	return results, nil
}
