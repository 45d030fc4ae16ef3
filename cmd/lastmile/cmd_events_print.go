package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// printer writes what was recorded for people at a terminal, or as JSON for programs.
type printer struct{ out io.Writer }

// table begins a table; each cell ends with a tab or a line.
func (p printer) table() *tabwriter.Writer { return tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0) }

// line writes one line.
func (p printer) line(format string, args ...any) error {
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	return err
}

// json writes a value in a line of its own.
func (p printer) json(value any) error { return json.NewEncoder(p.out).Encode(value) }

// row writes cells to a table. What people typed cannot move the cursor of a terminal, or look like another cell.
func row(w io.Writer, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, c)
	}
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// stamp writes an instant in UTC.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// streamLine is a stream as JSON.
type streamLine struct {
	Position uint64    `json:"position"`
	Stream   string    `json:"stream"`
	At       time.Time `json:"at"`
	Org      string    `json:"org"`
	Type     string    `json:"type"`
}

// streams prints the first events of streams.
func (p printer) streams(list []events.Envelope, more, asJSON bool, slug func(id.Organization) string) error {
	if asJSON {
		for _, e := range list {
			if err := p.json(streamLine{
				e.Position, e.Stream, e.Meta.At.UTC(), slug(e.Meta.OrgID), catalog.Family(e.Type),
			}); err != nil {
				return err
			}
		}
		return nil
	}
	w := p.table()
	row(w, "POSITION", "STREAM", "BEGAN", "ORGANIZATION", "WITH")
	for _, e := range list {
		row(w, strconv.FormatUint(e.Position, 10), e.Stream, stamp(e.Meta.At), slug(e.Meta.OrgID),
			catalog.Family(e.Type))
	}
	if err := w.Flush(); err != nil || !more {
		return err
	}
	return p.line("more: lastmile events list --after %d", list[len(list)-1].Position)
}

// entryLine is an event as JSON.
type entryLine struct {
	Number        uint64       `json:"number"`
	Position      uint64       `json:"position"`
	Type          string       `json:"type"`
	At            time.Time    `json:"at"`
	Actor         events.Actor `json:"actor"`
	IP            string       `json:"ip"`
	Reason        string       `json:"reason"`
	CorrelationID string       `json:"correlationId"`
	CausationID   string       `json:"causationId"`
	Data          any          `json:"data"`
	Change        []changeLine `json:"change"`
	More          bool         `json:"more"`
}

// changeLine is a change as JSON.
type changeLine struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// changeLines are changes as JSON; none is an empty list.
func changeLines(list []historycases.Change) []changeLine {
	out := make([]changeLine, len(list))
	for i, c := range list {
		out[i] = changeLine(c)
	}
	return out
}

// entries prints events, and below each what it changed; all is how many there are.
func (p printer) entries(list []historycases.Entry, all uint64, asJSON bool) error {
	if asJSON {
		for _, e := range list {
			m := e.Event.Meta
			if err := p.json(entryLine{
				e.Number, e.Event.Position, e.Type, m.At.UTC(), m.Actor, m.IP.Reveal(), m.Why(),
				m.CorrelationID, m.CausationID, e.Data, changeLines(e.Changes), e.More,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	w := p.table()
	row(w, "NUMBER", "AT", "EVENT", "WHO", "WHY")
	for _, e := range list {
		m := e.Event.Meta
		row(w, strconv.FormatUint(e.Number, 10), stamp(m.At), e.Type, who(m.Actor, nil), m.Why())
		for _, c := range e.Changes {
			row(w, "", "", "  "+c.Field, words(c.From)+" -> "+words(c.To), "")
		}
		if e.More {
			row(w, "", "", "  and more fields", "", "")
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return p.line("%d of %d events", len(list), all)
}

// stateLine is a state as JSON.
type stateLine struct {
	Number uint64    `json:"number"`
	LastAt time.Time `json:"lastAt"`
	State  any       `json:"state"`
}

// state prints each field of a state that has a value.
func (p printer) state(was historycases.State, asJSON bool) error {
	if asJSON {
		return p.json(stateLine{was.Number, was.LastAt.UTC(), was.Fields})
	}
	w := p.table()
	row(w, "FIELD", "VALUE")
	eachField("", was.Fields, func(field string, value any) { row(w, field, words(value)) })
	if err := w.Flush(); err != nil {
		return err
	}
	return p.line("after event %d, recorded at %s", was.Number, stamp(was.LastAt))
}

// differenceLine is a difference as JSON.
type differenceLine struct {
	FromNumber *uint64      `json:"fromNumber"` // null: it did not exist yet
	ToNumber   uint64       `json:"toNumber"`
	Change     []changeLine `json:"change"`
	More       bool         `json:"more"`
}

// difference prints a line for each field, with what it was at both instants.
func (p printer) difference(d historycases.Difference, asJSON bool) error {
	if asJSON {
		line := differenceLine{ToNumber: d.To.Number, Change: changeLines(d.Changes), More: d.More}
		if d.From != nil {
			line.FromNumber = &d.From.Number
		}
		return p.json(line)
	}
	w := p.table()
	row(w, "FIELD", "FROM", "TO")
	for _, c := range d.Changes {
		row(w, c.Field, words(c.From), words(c.To))
	}
	if d.More {
		row(w, "and more fields", "", "")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	began := "nothing"
	if d.From != nil {
		began = "event " + strconv.FormatUint(d.From.Number, 10)
	}
	return p.line("from %s to event %d", began, d.To.Number)
}

// causes prints each field of a state with the event that made it so.
func (p printer) causes(list []historycases.Cause, names map[id.User]string) error {
	w := p.table()
	row(w, "FIELD", "VALUE", "SINCE", "BY", "WHO", "WHY")
	for _, c := range list {
		m := c.By.Meta
		row(w, c.Field, words(c.Value), stamp(m.At), catalog.Family(c.By.Type), who(m.Actor, names), m.Why())
	}
	return w.Flush()
}

// who names an actor, by name where it is known.
func who(a events.Actor, names map[id.User]string) string {
	text := strings.TrimSpace(string(a.Kind) + " " + a.ID)
	if user, err := id.Parse[id.User](a.ID); err == nil && names[user] != "" {
		text = names[user]
	}
	if a.Role != "" {
		text += " (" + a.Role + ")"
	}
	return text
}

// words writes a value for people.
func words(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case string:
		return v
	case json.Number:
		return v.String()
	case historycases.Hidden:
		return "(" + string(v) + ")"
	case historycases.Object:
		if len(v) == 2 && v[0].Name == "amount" && v[1].Name == "currency" {
			return words(v[1].Value) + " " + words(v[0].Value)
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return string(text)
}

// eachField gives the values below a value that are not empty, with the names of the fields that lead to them.
func eachField(field string, value any, take func(field string, value any)) {
	join := func(name string) string { return strings.TrimPrefix(field+"."+name, ".") }
	switch v := value.(type) {
	case nil:
		return
	case historycases.Object:
		if len(v) == 2 && v[0].Name == "amount" && v[1].Name == "currency" {
			break
		}
		for _, m := range v {
			eachField(join(m.Name), m.Value, take)
		}
		return
	case []any:
		for i, one := range v {
			eachField(join(strconv.Itoa(i)), one, take)
		}
		return
	}
	if value != "" && value != false {
		take(field, value)
	}
}
