// Package logicstamp implements the command `mcpdeck logicstamp`.
package logicstamp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
)

// Command makes the command. open gives the service, which the command
// closes.
func Command(open func(ctx context.Context) (*logicstamp.Service, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logicstamp",
		Short: "Show what changed in the contracts of a TypeScript project",
	}
	cmd.AddCommand(diffCommand(open))
	return cmd
}

type diffOptions struct {
	baseline, project          string
	json, markdown, plain, now bool
}

func diffCommand(open func(context.Context) (*logicstamp.Service, error)) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Compare the contracts of this folder with a baseline",
		Long: "Compare the contracts of the components in this folder with a baseline.\n\n" +
			"The baseline is snapshot (the newest one), snapshot:<id>, git:<ref>, or a folder with a\n" +
			"context. The default is the newest snapshot, or the last commit if there is none.\n\n" +
			"The exit code is 0 if nothing changed, 1 if something changed, and 2 on error.",
		Example: "  mcpdeck logicstamp diff\n  mcpdeck logicstamp diff --baseline git:main --markdown",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			s, err := open(cmd.Context())
			if err != nil {
				return fail(cmd.ErrOrStderr(), err)
			}
			defer s.Close()
			return diff(cmd.Context(), s, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.baseline, "baseline", "b", "", "the baseline to compare with")
	f.StringVar(&o.project, "project", "", "the project's folder (default: this one)")
	f.BoolVar(&o.json, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown, one section per folder")
	f.BoolVar(&o.plain, "plain", false, "print text (the default)")
	f.BoolVar(&o.now, "force", false, "analyse even if the sources have not changed")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "plain")
	return cmd
}

func fail(w io.Writer, err error) error {
	fmt.Fprintln(w, problem.Of(err))
	return exit.Code(2)
}

// diff compares and prints.
func diff(ctx context.Context, s *logicstamp.Service, o diffOptions, out, errs io.Writer) error {
	args := logicstamp.CompareArgs{Project: o.project, Baseline: o.baseline}
	root := o.project
	if root != "" {
		// Whoever sits at the command line may read what they name.
		full, err := filepath.Abs(root)
		if err != nil {
			return fail(errs, err)
		}
		root, args.Project = full, full
	}
	if o.now {
		args.ForceRegenerate = &o.now
	}
	call := logicstamp.Call{Root: root, Progress: func(stage string, _ time.Duration) {
		if stage == "stamp" {
			fmt.Fprintln(errs, "analysing …")
		}
	}}
	args.Baseline = cmp.Or(args.Baseline, "snapshot")
	r, err := s.Compare(ctx, call, args)
	if err == nil && o.baseline == "" && r.ErrorCode == problem.NoSnapshot {
		args.Baseline = "git:HEAD"
		second, err2 := s.Compare(ctx, call, args)
		// Where there is no repository either, the snapshot is what to make.
		if err2 == nil && second.ErrorCode != problem.GitNoRepo && second.ErrorCode != problem.GitNotFound {
			r = second
		}
	}
	if err != nil {
		return fail(errs, err)
	}
	switch {
	case o.json:
		enc := json.NewEncoder(console.JSON(out))
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	case o.markdown:
		err = report.Markdown(out, r)
	default:
		err = report.Plain(out, r)
	}
	switch {
	case err != nil:
		return fail(errs, err)
	case r.Status == compare.Diff:
		return exit.Failed
	case r.Status == compare.Failed:
		return exit.Code(2)
	}
	return nil
}
