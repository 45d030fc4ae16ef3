package genieacs

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// Preset says when the server runs which provision. It gives no arguments: they are texts for release 1.2 and
// expressions for 1.3, which serves no device any more when one of them is none (docs/facts/genieacs.md#observed).
type Preset struct {
	Name         string
	Channel      string // a failure holds up only presets of the same one
	Weight       int    // lower ones run first
	Events       map[string]bool
	Precondition string // an expression; "" = always
	Provision    string
	Version      int // of whoever wrote it, which the server keeps and does not use; 0 = none
}

// wirePreset is a preset on the wire. Configurations must be there: without them the server serves no device at all.
type wirePreset struct {
	ID             string              `json:"_id,omitempty"`
	Weight         int                 `json:"weight"`
	Channel        string              `json:"channel"`
	Schedule       string              `json:"schedule"`
	Events         map[string]bool     `json:"events"`
	Precondition   string              `json:"precondition"`
	Configurations []wireConfiguration `json:"configurations"`
	Version        int                 `json:"lastmileVersion,omitempty"`
}

// wireConfiguration names a provision.
type wireConfiguration struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Args []any  `json:"args,omitempty"` // read only: ours have none
}

// body checks a preset and writes it.
func (p Preset) body() ([]byte, error) {
	if err := firstOf(checkName(p.Name), checkName(p.Channel), checkName(p.Provision)); err != nil {
		return nil, err
	}
	if p.Precondition != clean(p.Precondition) {
		return nil, unfit("precondition of preset %s is too long or has control characters", p.Name)
	}
	events := p.Events
	if events == nil {
		events = map[string]bool{}
	}
	text, err := json.Marshal(wirePreset{
		Weight: p.Weight, Channel: p.Channel, Events: events, Precondition: p.Precondition,
		Configurations: []wireConfiguration{{Type: "provision", Name: p.Provision}}, Version: p.Version,
	})
	if err != nil {
		return nil, unfit("preset %s cannot be written", p.Name)
	}
	return text, nil
}

// PutPreset writes a preset, in the place of one with its name.
func (s *Server) PutPreset(ctx context.Context, p Preset) error {
	body, err := p.body()
	if err != nil {
		return err
	}
	return s.done(s.send(ctx, call{
		operation: "put_preset", method: http.MethodPut, path: "/presets/" + segment(p.Name), body: body,
		headers: map[string]string{"Content-Type": "application/json"},
	}))
}

// Preset reads a preset; false when there is none.
func (s *Server) Preset(ctx context.Context, name string) (Preset, bool, error) {
	if err := checkName(name); err != nil {
		return Preset{}, false, err
	}
	var out Preset
	found := false
	_, err := list(ctx, s, "read_preset", selection{
		collection: "presets", query: map[string]any{"_id": name}, limit: 1,
	}, func(w wirePreset) error {
		found = true
		out = Preset{
			Name: w.ID, Channel: w.Channel, Weight: w.Weight, Events: w.Events, Precondition: w.Precondition,
			Version: w.Version,
		}
		if len(w.Configurations) == 1 && w.Configurations[0].Type == "provision" && w.Configurations[0].Args == nil {
			out.Provision = w.Configurations[0].Name // one with arguments is none of ours
		}
		return nil
	})
	return out, found, err
}

// DeletePreset takes a preset away; one that is gone is no error.
func (s *Server) DeletePreset(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return s.done(s.send(ctx, call{
		operation: "delete_preset", method: http.MethodDelete, path: "/presets/" + segment(name),
	}))
}

// maxScript bounds a provision, in bytes.
const maxScript = 256 << 10

// PutProvision writes a script, in the place of one with its name. A syntax error is a *Refusal with status 400 in the
// server's words. A provision does nothing until a preset names it.
func (s *Server) PutProvision(ctx context.Context, name, script string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(script) > maxScript || !utf8.ValidString(script) {
		return unfit("script of %s is too long or no text", name)
	}
	return s.done(s.send(ctx, call{
		operation: "put_provision", method: http.MethodPut, path: "/provisions/" + segment(name), body: []byte(script),
		headers: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
	}))
}

// Provision reads a script; false when there is none.
func (s *Server) Provision(ctx context.Context, name string) (script string, found bool, err error) {
	if err := checkName(name); err != nil {
		return "", false, err
	}
	_, err = list(ctx, s, "read_provision", selection{
		collection: "provisions", query: map[string]any{"_id": name}, limit: 1,
	}, func(w struct {
		Script string `json:"script"`
	},
	) error {
		script, found = w.Script, true
		return nil
	})
	return script, found, err
}

// DeleteProvision takes a script away; one that is gone is no error. Delete the presets that name it first: a preset
// without its script is a fault of each device.
func (s *Server) DeleteProvision(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return s.done(s.send(ctx, call{
		operation: "delete_provision", method: http.MethodDelete, path: "/provisions/" + segment(name),
	}))
}
