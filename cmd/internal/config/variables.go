package config

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// Variable is the environment variable that stands for a flag of a command, which is
// named without the program's own name: "" or "ask answer".
func Variable(command, flag string) string {
	words := append([]string{"mcpdeck"}, strings.Fields(command)...)
	return strings.ToUpper(strings.ReplaceAll(strings.Join(append(words, flag), "_"), "-", "_"))
}

// folderList marks a flag whose variable is a list as PATH is.
const folderList = "folder-list"

// FolderList makes the variable of a flag that names folders a list as PATH is. The
// variables of other flags that can be repeated have a value per line.
func FolderList(flags *pflag.FlagSet, flag string) {
	_ = flags.SetAnnotation(flag, folderList, nil) // it fails only where there is no such flag
}

// FromVariable gives a flag that is not on the command line the value of its variable,
// unless that is empty. An error is that of FlagSet.Set.
func FromVariable(flags *pflag.FlagSet, flag *pflag.Flag, variable string) error {
	value := Env(variable)
	if value == "" || flag.Changed {
		return nil
	}
	values := []string{value}
	if _, list := flag.Annotations[folderList]; list {
		values = filepath.SplitList(value)
	} else if _, list := flag.Value.(pflag.SliceValue); list {
		values = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	}
	for _, v := range values {
		if err := flags.Set(flag.Name, v); err != nil {
			return err
		}
	}
	return nil
}
