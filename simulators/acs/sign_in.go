package acs

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"
)

// signInAgain is when a device that was refused comes again.
const signInAgain = 10 * time.Second

// caller is a device that is asked for its credentials.
type caller struct {
	of     DeviceConfig
	id     string
	header string // Authorization; "" = it has shown nothing yet
	nonce  string // of the challenge that it was given
}

// admitted decides by the expression of cwmp.auth whether a device is let in: first without its credentials, and after
// a challenge with them. One that is refused comes again a while later. Source: docs/facts/genieacs.md#authentication.
func (s *Simulator) admitted(ctx context.Context, d *device, events []string) bool {
	s.mu.Lock()
	text := s.state.signIn
	s.mu.Unlock()
	if text == "" {
		return true
	}
	by := caller{of: d.cfg, id: d.id}
	if s.allows(ctx, text, by) {
		return true
	}
	by.nonce = rand.Text()
	d.boxMu.Lock()
	by.header = d.box.credentials().answerTo(challenge(s.cfg.Encrypted, by.nonce), cwmpPath)
	d.boxMu.Unlock()
	if by.header != "" && s.allows(ctx, text, by) {
		return true
	}
	s.line(d.id + ": Authentication failure")
	s.mu.Lock()
	defer s.mu.Unlock()
	d.first = d.first || slices.Contains(events, bootstrap)
	d.next = s.clock.Now().Add(signInAgain)
	return false
}

// allows evaluates an expression. Everything but false, 0, an empty text and null lets the device in.
func (s *Simulator) allows(ctx context.Context, text string, by caller) bool {
	e := expression{rest: text}
	value, ok := e.value(func(name string, args []any) any { return s.called(ctx, by, name, args) }, by.parameter)
	if !ok || strings.TrimSpace(e.rest) != "" {
		s.line("cwmp.auth cannot be read")
		return false
	}
	switch v := value.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return value != nil
}

// called carries out a function of an expression: EXT asks the extension, AUTH compares what the device has shown.
// Others are null.
func (s *Simulator) called(ctx context.Context, by caller, name string, args []any) any {
	switch name {
	case "EXT":
		if slices.Contains(args[:min(2, len(args))], nil) {
			return nil
		}
		return s.extension(ctx, args)
	case "AUTH":
		var shown [2]string
		for i := range shown {
			text, is := any(nil), false
			if i < len(args) {
				text = args[i]
			}
			if shown[i], is = text.(string); !is {
				return false
			}
		}
		return credentials{shown[0], shown[1]}.showIn(by.header, by.nonce)
	}
	return nil
}

// parameter gives what an inform says of the device; nil for all else.
func (by caller) parameter(path string) any {
	switch path {
	case "DeviceID.ID":
		return by.id
	case "DeviceID.SerialNumber":
		return by.of.Serial
	case "DeviceID.OUI":
		return by.of.OUI
	case "DeviceID.ProductClass":
		return orNull(by.of.ProductClass)
	}
	return nil
}

// expression reads calls, texts in double quotes and parameters, from the left. Of calls the arguments have their
// values first.
type expression struct{ rest string }

// value reads one expression and gives its value; false when it is none.
func (e *expression) value(call func(string, []any) any, parameter func(string) any) (any, bool) {
	e.rest = strings.TrimSpace(e.rest)
	if text, quoted := strings.CutPrefix(e.rest, `"`); quoted {
		text, rest, closed := strings.Cut(text, `"`)
		e.rest = rest
		return text, closed
	}
	end := strings.IndexFunc(e.rest, func(r rune) bool { return strings.ContainsRune(`(),"`, r) })
	if end < 0 {
		end = len(e.rest)
	}
	name := strings.TrimSpace(e.rest[:end])
	e.rest = e.rest[end:]
	switch {
	case name == "true" || name == "false":
		return name == "true", true
	case !strings.HasPrefix(e.rest, "("):
		return parameter(name), name != ""
	}
	e.rest = e.rest[1:]
	var args []any
	for {
		arg, ok := e.value(call, parameter)
		e.rest = strings.TrimSpace(e.rest)
		if !ok || e.rest == "" {
			return nil, false
		}
		args = append(args, arg)
		separator := e.rest[0]
		e.rest = e.rest[1:]
		if separator == ')' {
			return call(strings.ToUpper(name), args), true
		}
		if separator != ',' {
			return nil, false
		}
	}
}
