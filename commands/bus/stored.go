package bus

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
)

// RegisterStored lets a command be kept as a row: process managers' commands are. C is the command's struct.
func RegisterStored[C commands.Command](b *Bus) {
	var zero C
	name := zero.CommandName()
	if _, twice := b.stored[name]; twice {
		panic("stored command " + name + " is registered twice")
	}
	b.stored[name] = func(body []byte) (commands.Command, error) {
		var c C
		if err := json.Unmarshal(body, &c); err != nil {
			return nil, fmt.Errorf("read stored command %s: %w", name, err)
		}
		return c, nil
	}
}

// EncodeStored writes a command for a row; its name finds it again.
func (b *Bus) EncodeStored(cmd commands.Command) (name string, body []byte, err error) {
	name = cmd.CommandName()
	if _, ok := b.stored[name]; !ok {
		return "", nil, fmt.Errorf("command %s is not registered for storing", name)
	}
	if body, err = json.Marshal(cmd); err != nil {
		return "", nil, fmt.Errorf("write stored command %s: %w", name, err)
	}
	return name, body, nil
}

// DecodeStored reads a command from a row.
func (b *Bus) DecodeStored(name string, body []byte) (commands.Command, error) {
	read, ok := b.stored[name]
	if !ok {
		return nil, fmt.Errorf("command %s is not registered for storing", name)
	}
	return read(body)
}
