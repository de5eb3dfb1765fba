// Package compare finds the differences between two contexts of a project. It is
// pure: equal inputs give equal results.
package compare

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// Status is the outcome of a comparison.
type Status string

// The outcomes.
const (
	Pass   Status = "pass"
	Diff   Status = "diff"
	Failed Status = "error"
)

// Result is the answer to "what changed".
type Result struct {
	Baseline     string       `json:"baseline"`
	Status       Status       `json:"status"`
	Error        string       `json:"error,omitempty"`
	ErrorCode    problem.Code `json:"errorCode,omitempty"`
	ProjectPath  string       `json:"projectPath"`
	ComparedAt   time.Time    `json:"comparedAt"`
	DurationMs   int64        `json:"durationMs"`
	Published    bool         `json:"published"`
	BaselineInfo *SideInfo    `json:"baselineInfo,omitempty"`
	CurrentInfo  *SideInfo    `json:"currentInfo,omitempty"`
	Summary      Summary      `json:"summary"`
	Freshness    *Freshness   `json:"freshness,omitempty"`
	Coverage     *Coverage    `json:"coverage,omitempty"`
	FolderDiffs  []FolderDiff `json:"folderDiffs"`
	// ContractChanges has one entry per changed contract, root or dependency.
	ContractChanges []ContractChange `json:"contractChanges"`
	// ContentOnly are files whose text changed and whose contract did not.
	ContentOnly []string `json:"contentOnly,omitempty"`
	// Signatures are what in those texts contracts do not hold.
	Signatures []Signature       `json:"signatures,omitempty"`
	Warnings   []problem.Warning `json:"warnings"`
	Truncated  bool              `json:"truncated,omitempty"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// SideInfo says what one side of a comparison was.
type SideInfo struct {
	// Kind is snapshot, git or path for a baseline; Source is disk, private,
	// regenerated or watch for the current side.
	Kind       string `json:"kind,omitempty"`
	Source     string `json:"source,omitempty"`
	SnapshotID string `json:"snapshotId,omitempty"`
	// MadeBy is the client that made the snapshot, "" for the user.
	MadeBy     string             `json:"madeBy,omitempty"`
	Ref        string             `json:"ref,omitempty"`
	Commit     string             `json:"commit,omitempty"`
	Describe   string             `json:"describe,omitempty"`
	Path       string             `json:"path,omitempty"`
	CreatedAt  time.Time          `json:"createdAt,omitzero"`
	Tool       string             `json:"tool,omitempty"`
	Options    *contract.Analysis `json:"options,omitempty"`
	AgeSeconds int64              `json:"ageSeconds,omitempty"`
}

// Summary counts what changed.
type Summary struct {
	TotalFolders     int           `json:"totalFolders"`
	UnchangedFolders int           `json:"unchangedFolders"`
	ChangedFolders   int           `json:"changedFolders"`
	AddedFolders     int           `json:"addedFolders"`
	RemovedFolders   int           `json:"removedFolders"`
	TokenDelta       TokenDelta    `json:"tokenDelta"`
	Contracts        Contracts     `json:"contracts"`
	Breaking         BreakingCount `json:"breaking"`
	ContentOnly      int           `json:"contentOnly"`
	// ToolOnly counts contracts that differ although their file does not:
	// another version of the CLI extracted them.
	ToolOnly int `json:"toolOnly"`
	// TokensBefore is the baseline's whole estimate, for percentages.
	TokensBefore int `json:"tokensBefore,omitempty"`
}

// TokenDelta is the change of the estimated tokens, after minus before.
type TokenDelta struct {
	GPT4oMini int `json:"gpt4oMini"`
	Claude    int `json:"claude"`
}

// Contracts counts contract changes by their kind.
type Contracts struct {
	Added    int `json:"added"`
	Removed  int `json:"removed"`
	Changed  int `json:"changed"`
	Moved    int `json:"moved"`
	Hidden   int `json:"hidden"`
	Revealed int `json:"revealed"`
}

// BreakingCount counts what breaks callers.
type BreakingCount struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Freshness reports whether a context describes the sources as they are.
type Freshness struct {
	// State is fresh, stale or missing.
	State        string   `json:"state"`
	ChangedFiles []string `json:"changedFiles,omitempty"`
	NewFiles     []string `json:"newFiles,omitempty"`
	DeletedFiles []string `json:"deletedFiles,omitempty"`
	// More counts files beyond the 50 named in each list.
	More int `json:"more,omitempty"`
}

// Coverage tells what the comparison could not see.
type Coverage struct {
	Components int `json:"components"`
	Visible    int `json:"visible"`
	// Uncovered are changed files that have no contract on at least one side;
	// nil when the baseline has no list of its sources.
	Uncovered []string `json:"uncovered,omitempty"`
	// Deeper tells of an analysis in the background that would see them: running,
	// stopped, or off; "" when there is none to be had.
	Deeper string `json:"deeper,omitempty"`
}

// How an analysis that reaches deeper stands.
const (
	DeeperRunning = "running"
	DeeperStopped = "stopped"
	DeeperOff     = "off"
)

// FolderStatus is what happened to a folder.
type FolderStatus string

// What can happen to a folder.
const (
	FolderAdded     FolderStatus = "added"
	FolderRemoved   FolderStatus = "removed"
	FolderChanged   FolderStatus = "changed"
	FolderUnchanged FolderStatus = "unchanged"
)

// FolderDiff is one folder with the changes of its bundles.
type FolderDiff struct {
	Path    string            `json:"path"`
	Status  FolderStatus      `json:"status"`
	Changes []ComponentChange `json:"changes"`
}

// ChangeType is what happened to a bundle.
type ChangeType string

// What can happen to a bundle.
const (
	ContractChanged ChangeType = "uif_contract_changed"
	PropsChanged    ChangeType = "props_signature_changed"
	BundleAdded     ChangeType = "bundle_added"
	BundleRemoved   ChangeType = "bundle_removed"
	HashChanged     ChangeType = "hash_changed"
)

// ComponentChange is one changed bundle.
type ComponentChange struct {
	RootComponent      string     `json:"rootComponent"`
	EntryID            string     `json:"entryId"`
	Type               ChangeType `json:"type"`
	SemanticHashBefore string     `json:"semanticHashBefore,omitempty"`
	SemanticHashAfter  string     `json:"semanticHashAfter,omitempty"`
	BundleHashBefore   string     `json:"bundleHashBefore,omitempty"`
	BundleHashAfter    string     `json:"bundleHashAfter,omitempty"`
	TokenDelta         int        `json:"tokenDelta"`
	TokensBefore       int        `json:"tokensBefore,omitempty"`
	TokensAfter        int        `json:"tokensAfter,omitempty"`
	Details            *Details   `json:"details,omitempty"`
}

// Change is what happened to a contract.
type Change string

// What can happen to a contract. Hidden and revealed ones have a source file on
// both sides, but a contract on one side only.
const (
	Added    Change = "added"
	Removed  Change = "removed"
	Changed  Change = "changed"
	Moved    Change = "moved"
	Hidden   Change = "hidden"
	Revealed Change = "revealed"
)

// ContractChange is one changed contract.
type ContractChange struct {
	EntryID            string     `json:"entryId"`
	Name               string     `json:"name"`
	Kind               string     `json:"kind,omitempty"`
	Role               string     `json:"role"`
	Change             Change     `json:"change"`
	SemanticHashBefore string     `json:"semanticHashBefore,omitempty"`
	SemanticHashAfter  string     `json:"semanticHashAfter,omitempty"`
	FileHashBefore     string     `json:"fileHashBefore,omitempty"`
	FileHashAfter      string     `json:"fileHashAfter,omitempty"`
	Details            *Details   `json:"details,omitempty"`
	Breaking           []Breaking `json:"breaking,omitempty"`
	// Affects are the roots whose bundles contain the contract, 20 at most;
	// AffectsTotal counts them all when there are more.
	Affects      []string `json:"affects,omitempty"`
	AffectsTotal int      `json:"affectsTotal,omitempty"`
	// Importers are the sources that import it, if it breaks any; 50 at most.
	Importers      []Importer `json:"importers,omitempty"`
	ImportersTotal int        `json:"importersTotal,omitempty"`

	// Before and After are the contracts themselves, and Lines what differs in the sources,
	// for a view of both sides.
	Before *contract.Contract `json:"-"`
	After  *contract.Contract `json:"-"`
	Lines  []SourceLine       `json:"-"`
}

// Severity is how bad a breaking change is.
type Severity string

// An Error breaks callers; a Caution may.
const (
	Error   Severity = "error"
	Caution Severity = "warning"
)

// Breaking is one change that breaks those who use a component.
type Breaking struct {
	Severity Severity `json:"severity"`
	Kind     string   `json:"kind"`
	Name     string   `json:"name"`
	Message  string   `json:"message"`
	// Line is where it is in the present source and LineBefore where it was in
	// that of the baseline, as far as known. Source is what the file had there
	// when it was analysed, a few lines at most.
	Line       int    `json:"line,omitempty"`
	LineBefore int    `json:"lineBefore,omitempty"`
	Source     string `json:"source,omitempty"`
}

// Place is the line that Source begins on, and whether it is the baseline's: that
// of what is gone, or of what the present source is not known of.
func (b Breaking) Place() (line int, was bool) {
	if b.LineBefore > 0 && (b.Line == 0 || strings.HasSuffix(b.Kind, "_removed")) {
		return b.LineBefore, true
	}
	return b.Line, false
}

// Importer is a source that imports one that breaks.
type Importer struct {
	EntryID string `json:"entryId"`
	Line    int    `json:"line"`
	// Lost are the names it takes that break.
	Lost []string `json:"lost,omitempty"`
	// Via is the source that passes them on to it, "" for the one that breaks;
	// PassesOn tells that it exports them itself.
	Via      string `json:"via,omitempty"`
	PassesOn bool   `json:"passesOn,omitempty"`
}

// Signature is a change in what an exported declaration says of itself that no
// contract holds, such as the type of a parameter.
type Signature struct {
	EntryID string `json:"entryId"`
	Name    string `json:"name"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Line    int    `json:"line"`
}

// TypeChange is a prop, event or state variable whose type changed, as text.
type TypeChange struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Dependency is a changed contract inside a bundle.
type Dependency struct {
	EntryID        string     `json:"entryId"`
	Type           ChangeType `json:"type"`
	ModifiedFields []string   `json:"modifiedFields"`
}

// Details say what differs, field by field.
type Details struct {
	ModifiedFields []string `json:"modifiedFields,omitempty"`
	Reason         string   `json:"reason,omitempty"`
	MovedFrom      string   `json:"movedFrom,omitempty"`
	MovedTo        string   `json:"movedTo,omitempty"`

	AddedProps   []string     `json:"addedProps,omitempty"`
	RemovedProps []string     `json:"removedProps,omitempty"`
	ChangedProps []TypeChange `json:"changedProps,omitempty"`
	AddedEmits   []string     `json:"addedEmits,omitempty"`
	RemovedEmits []string     `json:"removedEmits,omitempty"`
	ChangedEmits []TypeChange `json:"changedEmits,omitempty"`
	AddedState   []string     `json:"addedState,omitempty"`
	RemovedState []string     `json:"removedState,omitempty"`
	ChangedState []TypeChange `json:"changedState,omitempty"`

	AddedFunctions    []string `json:"addedFunctions,omitempty"`
	RemovedFunctions  []string `json:"removedFunctions,omitempty"`
	AddedImports      []string `json:"addedImports,omitempty"`
	RemovedImports    []string `json:"removedImports,omitempty"`
	AddedHooks        []string `json:"addedHooks,omitempty"`
	RemovedHooks      []string `json:"removedHooks,omitempty"`
	AddedComponents   []string `json:"addedComponents,omitempty"`
	RemovedComponents []string `json:"removedComponents,omitempty"`
	AddedVariables    []string `json:"addedVariables,omitempty"`
	RemovedVariables  []string `json:"removedVariables,omitempty"`
	AddedLanguage     []string `json:"addedLanguageSpecific,omitempty"`
	RemovedLanguage   []string `json:"removedLanguageSpecific,omitempty"`

	ModifiedExports []string `json:"modifiedExports,omitempty"`
	// AddedExports and RemovedExports are names, as the sources say; "* from x"
	// is all of x. ChangedExports are members of enums and types, and generics.
	AddedExports       []string        `json:"addedExports,omitempty"`
	RemovedExports     []string        `json:"removedExports,omitempty"`
	ChangedExports     []TypeChange    `json:"changedExports,omitempty"`
	ExportsBefore      json.RawMessage `json:"exportsBefore,omitempty"`
	ExportsAfter       json.RawMessage `json:"exportsAfter,omitempty"`
	APISignatureBefore json.RawMessage `json:"apiSignatureBefore,omitempty"`
	APISignatureAfter  json.RawMessage `json:"apiSignatureAfter,omitempty"`
	NextJSBefore       json.RawMessage `json:"nextjsBefore,omitempty"`
	NextJSAfter        json.RawMessage `json:"nextjsAfter,omitempty"`
	StyleBefore        json.RawMessage `json:"styleBefore,omitempty"`
	StyleAfter         json.RawMessage `json:"styleAfter,omitempty"`
	KindBefore         string          `json:"kindBefore,omitempty"`
	KindAfter          string          `json:"kindAfter,omitempty"`

	ChangedDependencies []Dependency `json:"changedDependencies,omitempty"`
	AddedDependencies   []string     `json:"addedDependencies,omitempty"`
	RemovedDependencies []string     `json:"removedDependencies,omitempty"`

	// Totals counts the entries of each field that has any, on either side, so
	// that "1 of 3 changed" can be said without the contracts.
	Totals map[string]int `json:"totals,omitempty"`
}

// Depth is the depth of the current side, 0 when unknown.
func (r *Result) Depth() int {
	if r.CurrentInfo == nil || r.CurrentInfo.Options == nil {
		return 0
	}
	return r.CurrentInfo.Options.Depth
}
