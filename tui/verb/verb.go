// Package verb has what the keys of the screen mean: a key means the same on every page.
package verb

import "sync"

// Verb is what a key does wherever it does something.
type Verb int

// The verbs in the order in which they are listed.
const (
	None Verb = iota
	Go
	NextPage
	PreviousPage
	NextPane
	PreviousPane
	Left
	Right
	Up
	Down
	First
	Last
	PageDown
	PageUp
	Open
	Back
	Mark
	Choose
	Yes
	No
	Always
	Message
	Later
	Hand
	Stop
	Undo
	Edit
	Terminal
	Copy
	Details
	View
	Again
	Sort
	Follow
	Larger
	Smaller
	Filter
	FindNext
	FindPrevious
	Pencil
	History
	Notices
	Help
	Commands
	Quit
	Mouse
	Redraw
	Suspend

	// Those of text fields and forms.
	Break
	UndoTyping
	RedoTyping
	Complete
	Clear
	EntryUp
	EntryDown
	Send
)

type row struct {
	keys  []string
	means string
}

// Keys are those that have the verb where the user has bound no others.
func (v Verb) Keys() []string { return table()[v].keys }

// Means says in a few words what the verb is.
func (v Verb) Means() string { return table()[v].means }

// Field reports whether the verb is one of text fields and forms.
func (v Verb) Field() bool { return v >= Break }

// All are all verbs but None.
func All() []Verb {
	out := make([]Verb, len(table())-1)
	for i := range out {
		out[i] = Verb(i + 1)
	}
	return out
}

var table = sync.OnceValue(func() []row {
	return []row{
		None:         {},
		Go:           {[]string{"I", "A", "C", "S", "P", "D", "alt+i", "alt+a", "alt+c", "alt+s", "alt+p", "alt+d"}, "go to the page"},
		NextPage:     {[]string{"]"}, "next page"},
		PreviousPage: {[]string{"["}, "previous page"},
		NextPane:     {[]string{"tab"}, "next pane, or next field"},
		PreviousPane: {[]string{"shift+tab"}, "previous pane, or previous field"},
		Left:         {[]string{"left", "h"}, "previous of what stands beside"},
		Right:        {[]string{"right", "l"}, "next of what stands beside"},
		Up:           {[]string{"up", "k"}, "up"},
		Down:         {[]string{"down", "j"}, "down"},
		First:        {[]string{"home", "g"}, "to the first"},
		Last:         {[]string{"end", "G"}, "to the last"},
		PageDown:     {[]string{"pgdown", "ctrl+d"}, "scroll down"},
		PageUp:       {[]string{"pgup", "ctrl+u"}, "scroll up"},
		Open:         {[]string{"enter"}, "open; in a select: choose; in a field: done"},
		Back:         {[]string{"esc"}, "one step back; drafts and answers are kept"},
		Mark:         {[]string{"space"}, "mark, or turn on and off"},
		Choose:       {[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "choose an option of what is shown"},
		Yes:          {[]string{"y"}, "yes"},
		No:           {[]string{"n"}, "no"},
		Always:       {[]string{"a"}, "always…"},
		Message:      {[]string{"m"}, "message to the agent"},
		Later:        {[]string{"z"}, "later"},
		Hand:         {[]string{"t"}, "hand over"},
		Stop:         {[]string{"x"}, "stop, or remove"},
		Undo:         {[]string{"u"}, "undo"},
		Edit:         {[]string{"e"}, "edit in your editor"},
		Terminal:     {[]string{"J"}, "go to the agent's terminal"},
		Copy:         {[]string{"c"}, "copy"},
		Details:      {[]string{"d"}, "details"},
		View:         {[]string{"v"}, "next view"},
		Again:        {[]string{"r"}, "again"},
		Sort:         {[]string{"s"}, "sort"},
		Follow:       {[]string{"f"}, "follow the newest, or not"},
		Larger:       {[]string{"+"}, "larger"},
		Smaller:      {[]string{"-"}, "smaller"},
		Filter:       {[]string{"/"}, "filter; in a text: find"},
		FindNext:     {[]string{"enter"}, "next place that was found"},
		FindPrevious: {[]string{"shift+enter"}, "previous place that was found"},
		Pencil:       {[]string{"p"}, "turn Pencil mode on or off"},
		History:      {[]string{"H"}, "history of answers"},
		Notices:      {[]string{"!"}, "notices"},
		Help:         {[]string{"?", "f1"}, "help: the keys of this page"},
		Commands:     {[]string{":", "ctrl+p"}, "commands"},
		Quit:         {[]string{"q", "ctrl+c"}, "quit; asks while something waits"},
		Mouse:        {[]string{"ctrl+t"}, "leave the mouse to the terminal, or not"},
		Redraw:       {[]string{"ctrl+l"}, "redraw the screen"},
		Suspend:      {[]string{"ctrl+z"}, "suspend to the shell"},

		Break:      {[]string{"ctrl+j"}, "line break, as shift+enter and alt+enter"},
		UndoTyping: {[]string{"ctrl+_", "ctrl+/"}, "undo what was typed"},
		RedoTyping: {[]string{"ctrl+y"}, "redo what was undone"},
		Complete:   {[]string{"tab"}, "complete the word"},
		Clear:      {[]string{"delete"}, "clear the field, or remove the entry"},
		EntryUp:    {[]string{"alt+up"}, "move the entry up in its list"},
		Send:       {[]string{"ctrl+s"}, "send, if everything is answered"},
		EntryDown:  {[]string{"alt+down"}, "move the entry down in its list"},
	}
})
