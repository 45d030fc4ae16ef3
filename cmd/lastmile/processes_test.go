package main

import (
	"encoding/json"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// recordedExample reads the recorded event of a type from events/testdata, and gives it an envelope.
func recordedExample(t *testing.T, eventType string) events.Envelope {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "events", "testdata", eventType+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Data, Metadata json.RawMessage
	}
	if err := json.Unmarshal(body, &file); err != nil {
		t.Fatal(err)
	}
	list, err := catalog.New(catalog.NewMemoryKeys()).Decode(t.Context(), []catalog.Recorded{{
		Encoded: catalog.Encoded{
			ID: id.Derive[id.Event]("sample", eventType), Type: eventType, Data: file.Data, Metadata: file.Metadata,
		},
		Stream: "sample-" + id.Derive[id.Any]("sample").String(), Position: 42,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// wiredBus makes a bus with all aggregates and without a store: it can only encode and decode commands.
func wiredBus() *bus.Bus {
	b := bus.New(bus.Config{})
	registerAggregates(b)
	return b
}

func TestProcesses_HaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range processes() {
		if name := p.Erase().Name; name == "" || seen[name] {
			t.Errorf("process %q has no name of its own", name)
		}
		seen[p.Erase().Name] = true
	}
}

func TestProcesses_WhatIsHandledIsKeyedAndDecided(t *testing.T) {
	t.Parallel()
	wired := wiredBus()
	for _, p := range processes() {
		def := p.Erase()
		if len(def.Types) == 0 {
			t.Errorf("%s handles nothing", def.Name)
		}
		for i, eventType := range def.Types {
			if !slices.Contains(catalog.Types(), eventType) {
				t.Errorf("%s handles %s, which is no type of event", def.Name, eventType)
				continue
			}
			if slices.Contains(def.Types[:i], eventType) {
				t.Errorf("%s handles %s twice", def.Name, eventType)
			}
			e := recordedExample(t, eventType)
			if def.Key(e) == "" {
				t.Errorf("%s has no key for %s", def.Name, eventType)
			}
			checkFirstStep(t, wired, def, e)
		}
	}
}

// checkFirstStep gives an event to a new instance. Its state must serve second steps with timeouts, refusals and
// events, and stay as it is in each of them. Its commands must come back from their rows as they were.
func checkFirstStep(t *testing.T, wired *bus.Bus, def processmanagers.Erased, e events.Envelope) {
	t.Helper()
	first, err := def.Step(&processmanagers.Stored{}, processmanagers.Input{Event: &e}, e.Meta.At)
	if err != nil {
		t.Errorf("%s: a first %s: %v", def.Name, e.Type, err)
		return
	}
	after := []processmanagers.Input{{Timeout: &processmanagers.Timeout{Name: "no such timer", Due: e.Meta.At}}}
	for _, timer := range first.Output.Timers {
		due := &processmanagers.Timeout{Name: timer.Name, Due: timer.At}
		after = append(after, processmanagers.Input{Timeout: due})
	}
	for _, cmd := range first.Output.Commands {
		name, row, err := wired.EncodeStored(cmd)
		if err != nil {
			t.Errorf("%s: %v", def.Name, err)
			continue
		}
		if back, err := wired.DecodeStored(name, row); err != nil || !cmp.Equal(cmd, back) {
			t.Errorf("%s: %s comes back otherwise: %v\n%s", def.Name, name, err, cmp.Diff(cmd, back))
		}
		refusal := &processmanagers.Refusal{Command: name, Code: "no", Target: cmd.Target()}
		after = append(after, processmanagers.Input{Refusal: refusal})
	}
	for _, eventType := range def.Types {
		next := recordedExample(t, eventType)
		after = append(after, processmanagers.Input{Event: &next})
	}
	kept := processmanagers.Stored{JSON: first.State}
	for _, in := range after {
		one, err := def.Step(&kept, in, e.Meta.At.Add(time.Hour))
		if err != nil {
			t.Errorf("%s: after %s: %v", def.Name, e.Type, err)
		}
		other, _ := def.Step(&processmanagers.Stored{JSON: first.State}, in, e.Meta.At.Add(time.Hour))
		if diff := cmp.Diff(string(other.State), string(one.State)); diff != "" {
			t.Errorf("%s: a step after %s has changed the state that it was given\n%s", def.Name, e.Type, diff)
		}
	}
}

func TestProcesses_EveryCommandTheyNameCanBeStored(t *testing.T) {
	t.Parallel()
	wired, names := wiredBus(), commandNames(t)
	found := 0
	for _, file := range sources(t, "processmanagers", "*", "*", "*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			from, ok := lit.Type.(*ast.SelectorExpr)
			if !ok || names[from.Sel.Name] == "" {
				return true
			}
			if pkg, ok := from.X.(*ast.Ident); ok && pkg.Name == "commands" {
				found++
				checkStorable(t, wired, names[from.Sel.Name])
			}
			return true
		})
	}
	if found == 0 {
		t.Error("no command was found in the source of the processes")
	}
}

// checkStorable fails the test unless a stored command is read back as it was.
func checkStorable(t *testing.T, wired *bus.Bus, name string) {
	t.Helper()
	cmd, err := wired.DecodeStored(name, []byte("{}"))
	if err != nil {
		t.Error(err)
		return
	}
	if _, _, err := wired.EncodeStored(cmd); err != nil {
		t.Errorf("a process can emit it: %v", err)
	}
}
