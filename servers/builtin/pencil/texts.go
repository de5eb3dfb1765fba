package pencil

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// What an agent reads when a call cannot be made or has failed. A write that
// failed may have been carried out all the same, so none of them says that
// nothing has changed.
const (
	lostText   = "Pencil's MCP server stopped. mcpdeck is reconnecting; try again shortly."
	failedText = "Pencil mode was turned off because its MCP server keeps failing. The user can turn it on again in mcpdeck."
	absentText = "The Pencil app is not running (or has not finished starting). Ask the user to start it and open a .pen file, then try again."
	doubtText  = "This message also appears when the app is busy, was just started, or stopped answering. Check that the file is open in Pencil before changing filePath."
)

func (o Options) texts() upstream.Texts {
	return upstream.Texts{
		Mode: "Pencil mode", Lost: lostText, Failed: failedText, Accept: "on the Servers page",
		Off: fmt.Sprintf("Pencil mode is off. The user can turn it on in mcpdeck with the key %s.", o.Key),
		Deadline: fmt.Sprintf("Pencil did not answer within %d s. It may have taken effect: read the document state before repeating it.",
			int(o.CallTimeout.Seconds())),
		Command: func(verb string) string { return "mcpdeck pencil " + verb },
		Withheld: func(tool string, why catalogue.Withheld) string {
			if why == catalogue.TurnedOff {
				return tool + " is turned off. The user can allow it in mcpdeck."
			}
			return ""
		},
	}
}

func pairText(app string) string {
	return fmt.Sprintf("The user should check that Pencil's MCP server belongs to the app in use: it was started for %q (pencil.app in mcpdeck's configuration).", app)
}

// class is what a failed call says about the app.
type class int

const (
	classOther    class = iota
	classAbsent         // no app answered
	classConfused       // the file, or a busy app, or one that has stopped answering
	classNoFile         // no document is open, or the program is paired with another app
)

// classify reads the class out of the child's sentence: its error codes are
// all the same.
func classify(sentence string) class {
	s := strings.ToLower(sentence)
	switch {
	case strings.Contains(s, "failed to connect to running pencil app"):
		return classAbsent
	case strings.Contains(s, "probably referencing the wrong .pen file"):
		return classConfused
	case strings.Contains(s, "file needs to be open"):
		return classNoFile
	}
	return classOther
}

// explain is what the agent reads for a sentence of the child, "" when that is the
// result as it came.
func explain(o upstream.Outcome) string {
	sentence := sanitize.Passed(o.Message(), maxSentence)
	switch classify(o.Message()) {
	case classAbsent:
		return absentText + "\n" + sentence
	case classConfused:
		return sentence + "\n" + doubtText
	case classNoFile:
		return sentence + "\n" + pairText(o.For)
	default:
		if o.Err == nil {
			return ""
		}
		return title + " tool error: " + sentence
	}
}

// maxSentence is how many characters of the child's own words are passed on.
const maxSentence = 4000

const prefix = "pencil_"

// CallTool is the gateway.
const CallTool = "pencil_call"

// catalogue is what is Pencil's own about its catalogue.
func (o Options) catalogue() catalogue.Options {
	c := catalogue.Options{
		Title: title, Prefix: prefix, Preface: guidePreface, Guide: ownGuide, Reserved: []string{prefix + "status"}, Off: o.Off,
		Entry: []string{"get_app_state", "get_editor_state", "read_skill"},
	}
	if o.Gateway != "never" {
		c.Reserved = append(c.Reserved, CallTool)
	}
	return c
}

const title = "Pencil"

// guidePreface tells the agent how names in Pencil's own texts relate to the
// tools it sees.
const guidePreface = `Pencil's tools carry the prefix "pencil_" here; Pencil's own texts may name them without it.`

// ownGuide stands in when the child gives no instructions.
const ownGuide = `These tools read and change the design document that is open in the Pencil app. ` +
	`Ask for the state of the app or editor first, look at what is there before you change it, ` +
	`and look at a picture of the result. Do not read or edit the files in any other way.`
