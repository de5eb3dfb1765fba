// Package problem defines the errors that tools return: a stable code, a sentence
// and the next step.
package problem

import (
	"context"
	"errors"
	"fmt"
)

// Code names a kind of failure; callers may switch on it.
type Code string

// The codes tools answer with.
const (
	BadArgument        Code = "BAD_ARGUMENT"
	ProjectNotFound    Code = "PROJECT_NOT_FOUND"
	ProjectNotAllowed  Code = "PROJECT_NOT_ALLOWED"
	CLINotFound        Code = "CLI_NOT_FOUND"
	NodeNotFound       Code = "NODE_NOT_FOUND"
	CLIWrong           Code = "CLI_WRONG"
	CLITooOld          Code = "CLI_TOO_OLD"
	CLITimeout         Code = "CLI_TIMEOUT"
	CLIFailed          Code = "CLI_FAILED"
	CLIIncomplete      Code = "CLI_INCOMPLETE"
	CLIPermission      Code = "CLI_PERMISSION"
	NoSources          Code = "NO_SOURCES"
	NoRoots            Code = "NO_ROOTS"
	ContextMissing     Code = "CONTEXT_MISSING"
	ContextIncomplete  Code = "CONTEXT_INCOMPLETE"
	ContextTooLarge    Code = "CONTEXT_TOO_LARGE"
	NotAnIndex         Code = "NOT_AN_INDEX"
	BadJSON            Code = "BAD_JSON"
	UnsupportedFormat  Code = "UNSUPPORTED_FORMAT"
	NoSnapshot         Code = "NO_SNAPSHOT"
	SnapshotUnknown    Code = "SNAPSHOT_UNKNOWN"
	SnapshotExpired    Code = "SNAPSHOT_EXPIRED"
	SnapshotLost       Code = "SNAPSHOT_LOST"
	SnapshotCorrupt    Code = "SNAPSHOT_CORRUPT"
	BundlePath         Code = "BUNDLE_PATH"
	ComponentNotFound  Code = "COMPONENT_NOT_FOUND"
	AmbiguousComponent Code = "AMBIGUOUS_COMPONENT"
	GitNotFound        Code = "GIT_NOT_FOUND"
	GitNoRepo          Code = "GIT_NO_REPO"
	GitBadRef          Code = "GIT_BAD_REF"
	GitFailed          Code = "GIT_FAILED"
	GitUnsafe          Code = "GIT_UNSAFE"
	SourcesUnsafe      Code = "SOURCES_UNSAFE"
	BadCursor          Code = "BAD_CURSOR"
	CursorStale        Code = "CURSOR_STALE"
	Busy               Code = "BUSY"
	Cancelled          Code = "CANCELLED"
	Internal           Code = "INTERNAL"
)

// The codes of warnings: facts that lessen an answer without refusing it.
const (
	StaleContext       Code = "STALE_CONTEXT"
	WatchStale         Code = "WATCH_STALE"
	SignaturesChanged  Code = "SIGNATURES_CHANGED"
	BaselineAdopted    Code = "BASELINE_ADOPTED"
	OptionsDiffer      Code = "OPTIONS_DIFFER"
	ToolVersionDiffers Code = "TOOL_VERSION_DIFFERS"
	UncoveredChanges   Code = "UNCOVERED_CHANGES"
	PublishSkipped     Code = "PUBLISH_SKIPPED"
	SourcesMoving      Code = "SOURCES_MOVING"
	LinksLeftOut       Code = "LINKS_LEFT_OUT"
	UnknownSchema      Code = "UNKNOWN_SCHEMA"
	BundleWithoutRoot  Code = "BUNDLE_WITHOUT_ROOT"
	GitPathNew         Code = "GIT_PATH_NEW"
	GitSubmodules      Code = "GIT_SUBMODULES"
	CLINewer           Code = "CLI_NEWER"
	SecretsUnmasked    Code = "SECRETS_UNMASKED"
)

// Warning is one fact that lessens an answer.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Warn makes a warning.
func Warn(code Code, format string, args ...any) Warning {
	return Warning{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error is a failure with its code, its sentence and the step that helps.
type Error struct {
	Code Code
	Text string
	Next string
	Err  error
}

// New makes an error; next says what the caller can do about it.
func New(code Code, next, format string, args ...any) *Error {
	return &Error{Code: code, Next: next, Text: fmt.Sprintf(format, args...)}
}

// Because gives the error the cause that errors.Is and errors.As look through.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// Error is the text a caller reads: "Error [CODE]: sentence. Next: step."
func (e *Error) Error() string {
	s := fmt.Sprintf("Error [%s]: %s.", e.Code, e.Text)
	if e.Next != "" {
		s += " Next: " + e.Next + "."
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Of turns any error into one with a code; nil stays nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return New(Cancelled, "call again when you need the answer", "the call was cancelled").Because(err)
	}
	return New(Internal, "try again; if it persists, see the log", "%v", err).Because(err)
}

// CodeOf is the code of an error, "" for nil.
func CodeOf(err error) Code {
	if e := Of(err); e != nil {
		return e.Code
	}
	return ""
}
