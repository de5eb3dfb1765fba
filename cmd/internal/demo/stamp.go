package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Stamp stands in for the stamp command, which needs Node: it knows the props of the
// demo's components and what they import.
func Stamp(ctx context.Context, args []string, project string, out io.Writer) error {
	if slices.Equal(args, []string{"--version"}) {
		_, err := fmt.Fprintln(out, "Version: "+standin.Version)
		return err
	}
	at := slices.Index(args, "--out")
	if at < 0 || at+1 == len(args) {
		return errors.New("the stand-in for stamp analyses, and does nothing else")
	}
	c, err := readComponents(ctx, project)
	if err != nil {
		return err
	}
	return c.Write(args[at+1])
}

// readComponents reads what stamp would tell of a project.
func readComponents(ctx context.Context, project string) (*standin.Context, error) {
	c := standin.NewContext(standin.Version, 2)
	list, err := manifest.Take(ctx, project, manifest.Options{})
	if err != nil {
		return nil, err
	}
	var (
		declared = regexp.MustCompile(`interface \w+Props \{([^}]*)\}`)
		prop     = regexp.MustCompile(`(\w+)(\??): ([^;]+)`)
		imported = regexp.MustCompile(`from '(\.[^']+)'`)
	)
	for _, f := range list.Files {
		text, err := file.Read(filepath.Join(project, filepath.FromSlash(f.Path)), 1<<20)
		if err != nil {
			return nil, err
		}
		props := map[string]any{}
		for _, body := range declared.FindAllStringSubmatch(string(text), -1) {
			for _, m := range prop.FindAllStringSubmatch(body[1], -1) {
				props[m[1]] = strings.TrimSpace(m[3])
				if m[2] != "" {
					props[m[1]] = map[string]any{"type": strings.TrimSpace(m[3]), "optional": true}
				}
			}
		}
		var uses []string
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			uses = append(uses, path.Join(path.Dir(f.Path), m[1])+".tsx")
		}
		c.Add(f.Path, strings.TrimSuffix(path.Base(f.Path), ".tsx"), manifest.FileHash(fmt.Append(nil, props)), text, props, uses...)
	}
	return c, nil
}
