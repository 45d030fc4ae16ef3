package bus

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// storedType is the type of a registered command.
type storedType struct {
	reflect.Type
	personal bool // it can hold personal text
}

// store registers a command for EncodeStored and DecodeStored. It panics when two commands have the same name.
func (b *Bus) store(cmd commands.Command) {
	name := cmd.CommandName()
	if _, twice := b.stored[name]; twice {
		panic("command " + name + " is registered twice")
	}
	kind := reflect.TypeOf(cmd)
	b.stored[name] = storedType{kind, personal.HeldBy(kind)}
}

// EncodeStored writes a command for a row of a table; DecodeStored finds it by its name. It refuses commands that can
// hold personal text, because rows are not sealed and forgetting a person does not reach them.
func (b *Bus) EncodeStored(cmd commands.Command) (name string, body []byte, err error) {
	name = cmd.CommandName()
	switch kind, ok := b.stored[name]; {
	case !ok || kind.Type != reflect.TypeOf(cmd):
		return "", nil, fmt.Errorf("write stored command %s: no registered aggregate lists it", name)
	case kind.personal:
		return "", nil, fmt.Errorf("write stored command %s: it can hold personal text", name)
	}
	if body, err = json.Marshal(cmd); err != nil {
		return "", nil, fmt.Errorf("write stored command %s: %w", name, err)
	}
	return name, body, nil
}

// DecodeStored reads a command that EncodeStored wrote. Fields that the command no longer has are ignored.
func (b *Bus) DecodeStored(name string, body []byte) (commands.Command, error) {
	kind, ok := b.stored[name]
	if !ok {
		return nil, fmt.Errorf("read stored command %s: no registered aggregate lists it", name)
	}
	read := reflect.New(kind.Type)
	if err := json.Unmarshal(body, read.Interface()); err != nil {
		return nil, fmt.Errorf("read stored command %s: %w", name, err)
	}
	cmd, ok := read.Elem().Interface().(commands.Command)
	if !ok {
		return nil, fmt.Errorf("read stored command %s: %s is no command", name, kind)
	}
	return cmd, nil
}
