package bus

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// store lets a command of a registered aggregate be kept as a row. A name that two commands have is a panic.
func (b *Bus) store(cmd commands.Command) {
	name := cmd.CommandName()
	if _, twice := b.stored[name]; twice {
		panic("command " + name + " is registered twice")
	}
	b.stored[name] = reflect.TypeOf(cmd)
}

// EncodeStored writes a command for a row; its name finds it again. Commands that can hold personal text are refused:
// rows are not sealed, and forgetting a person does not reach them.
func (b *Bus) EncodeStored(cmd commands.Command) (name string, body []byte, err error) {
	name = cmd.CommandName()
	switch kind, ok := b.stored[name]; {
	case !ok || kind != reflect.TypeOf(cmd):
		return "", nil, fmt.Errorf("write stored command %s: no registered aggregate lists it", name)
	case personal.HeldBy(kind):
		return "", nil, fmt.Errorf("write stored command %s: it can hold personal text", name)
	}
	if body, err = json.Marshal(cmd); err != nil {
		return "", nil, fmt.Errorf("write stored command %s: %w", name, err)
	}
	return name, body, nil
}

// DecodeStored reads a command from a row.
func (b *Bus) DecodeStored(name string, body []byte) (commands.Command, error) {
	kind, ok := b.stored[name]
	if !ok {
		return nil, fmt.Errorf("read stored command %s: no registered aggregate lists it", name)
	}
	read := reflect.New(kind)
	if err := json.Unmarshal(body, read.Interface()); err != nil {
		return nil, fmt.Errorf("read stored command %s: %w", name, err)
	}
	cmd, ok := read.Elem().Interface().(commands.Command)
	if !ok {
		return nil, fmt.Errorf("read stored command %s: %s is no command", name, kind)
	}
	return cmd, nil
}
