package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// forgottenCode is what Keys fail with for a destroyed subject.
const forgottenCode = "subject_forgotten"

// ipPath is what a sealed address is bound to, beside the event's id. No payload field has this name: it holds a space.
const ipPath = "metadata ip"

// Codec writes events as JSON with sealed personal fields, and reads them back. Safe for concurrent use.
type Codec struct {
	keys Keys
	reg  *registry
}

// New makes the codec of the product's event types.
func New(keys Keys) *Codec { return &Codec{keys: keys, reg: standard} }

// Draft is an event to be written. Meta.EventID must be set.
type Draft struct {
	Event events.Event
	Meta  events.Metadata
}

// Encoded is an event as the log takes it.
type Encoded struct {
	ID       id.Event
	Type     string
	Data     []byte // JSON
	Metadata []byte // JSON
}

// Recorded is an event as the log gives it.
type Recorded struct {
	Encoded
	Stream   string
	Revision uint64
	Position uint64
}

// UndecodableError is a poison event: it stands in the log and cannot be read. Whoever meets it stops.
type UndecodableError struct {
	Stream   string
	Revision uint64
	Position uint64
	Type     string
	Cause    error
}

// Error names the place of the event.
func (e *UndecodableError) Error() string {
	return fmt.Sprintf("undecodable event %s at %s revision %d position %d: %v", e.Type, e.Stream, e.Revision,
		e.Position, e.Cause)
}

// Unwrap gives the cause.
func (e *UndecodableError) Unwrap() error { return e.Cause }

// StoredTypes lists the names under which events of the given types may stand in the log, old versions included. nil
// stays nil.
func (c *Codec) StoredTypes(types []string) []string {
	if types == nil {
		return nil
	}
	return c.reg.stored(types)
}

// Encode seals and writes events. It asks for the keys of all subjects at once.
func (c *Codec) Encode(ctx context.Context, drafts []Draft) ([]Encoded, error) {
	keys, err := c.keysToSeal(ctx, drafts)
	if err != nil {
		return nil, fmt.Errorf("encode events: %w", err)
	}
	out := make([]Encoded, len(drafts))
	for i, d := range drafts {
		if out[i], err = c.encode(d, keys); err != nil {
			return nil, fmt.Errorf("encode event %s: %w", d.Event.EventType(), err)
		}
	}
	return out, nil
}

// keysToSeal gets or makes the keys of all subjects. Of a forgotten actor no address is kept; a forgotten subject of an
// event is an error.
func (c *Codec) keysToSeal(ctx context.Context, drafts []Draft) (map[uuid.UUID]Key, error) {
	subjects, actors := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, d := range drafts {
		if e, ok := d.Event.(events.AboutPerson); ok {
			subjects[e.PersonalSubject()] = true
		}
		if !d.Meta.IP.IsZero() {
			actors[d.Meta.IPSubject()] = true
		}
	}
	both := maps.Clone(subjects)
	maps.Copy(both, actors)
	if len(both) == 0 {
		return nil, nil
	}
	keys, err := c.keys.EnsureKeys(ctx, slices.Collect(maps.Keys(both)))
	if failure.CodeOf(err) != forgottenCode || len(actors) == 0 {
		return keys, err
	}
	if keys, err = c.keys.EnsureKeys(ctx, slices.Collect(maps.Keys(subjects))); err != nil {
		return nil, err
	}
	known, err := c.keys.Keys(ctx, slices.Collect(maps.Keys(actors)))
	if err != nil {
		return nil, err
	}
	merged := maps.Clone(known)
	maps.Copy(merged, keys)
	return merged, nil
}

// encode writes one event.
func (c *Codec) encode(d Draft, keys map[uuid.UUID]Key) (Encoded, error) {
	name := d.Event.EventType()
	if c.reg.types[name] != reflect.TypeOf(d.Event) {
		return Encoded{}, fmt.Errorf("%w: not in the catalog: %T", ErrUnknownType, d.Event)
	}
	if d.Meta.EventID.IsZero() {
		return Encoded{}, fmt.Errorf("no event id")
	}
	payload := reflect.New(reflect.TypeOf(d.Event)).Elem()
	payload.Set(reflect.ValueOf(d.Event))
	if e, ok := d.Event.(events.AboutPerson); ok {
		key := keys[e.PersonalSubject()]
		err := visit(payload, "", func(path string, t personal.Text) (personal.Text, error) {
			return seal(key, d.Meta.EventID, path, t)
		})
		if err != nil {
			return Encoded{}, err
		}
	}
	data, err := json.Marshal(payload.Interface())
	if err != nil {
		return Encoded{}, err
	}
	meta := d.Meta
	if key := keys[meta.IPSubject()]; key == nil {
		meta.IP = personal.Text{}
	} else if meta.IP, err = seal(key, meta.EventID, ipPath, meta.IP); err != nil {
		return Encoded{}, err
	}
	metadata, err := json.Marshal(meta)
	if err != nil {
		return Encoded{}, fmt.Errorf("metadata: %w", err)
	}
	return Encoded{ID: meta.EventID, Type: name, Data: data, Metadata: metadata}, nil
}

// seal seals one text for its event and place. An erased text is written as an empty one.
func seal(key Key, event id.Event, path string, t personal.Text) (personal.Text, error) {
	if key == nil && t.Reveal() != "" {
		return personal.Text{}, fmt.Errorf("no key of the subject")
	}
	return t.Seal(func(plain []byte) ([]byte, error) { return key.Seal(plain, associated(event, path)), nil })
}

// associated is what a sealed text is bound to.
func associated(event id.Event, path string) []byte { return append(event[:], path...) }

// Decode reads events of one page, with one look-up of keys. On an event that cannot be read it gives those before it
// and an UndecodableError; any other error is about the keys, and nothing is given.
func (c *Codec) Decode(ctx context.Context, page []Recorded) ([]events.Envelope, error) {
	parsed := make([]draft, 0, len(page))
	var poison error
	for _, r := range page {
		p, err := c.parse(r)
		if err != nil {
			poison = undecodable(r, err)
			break
		}
		parsed = append(parsed, p)
	}
	keys, err := c.keysToOpen(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("decode events: %w", err)
	}
	out := make([]events.Envelope, 0, len(parsed))
	for i, p := range parsed {
		e, err := p.open(keys)
		if err != nil {
			return out, undecodable(page[i], err)
		}
		out = append(out, e)
	}
	return out, poison
}

// undecodable names the place of a poison event.
func undecodable(r Recorded, cause error) error {
	return &UndecodableError{Stream: r.Stream, Revision: r.Revision, Position: r.Position, Type: r.Type, Cause: cause}
}

// draft is an event whose personal fields are not opened yet.
type draft struct {
	envelope events.Envelope
	payload  reflect.Value     // settable
	subject  uuid.UUID         // of the payload's personal fields
	person   bool              // it has some
	written  map[string]string // sealed form to the place it was written at; nil = where it stands
}

// parse reads the JSON of an event in its present version.
func (c *Codec) parse(r Recorded) (draft, error) {
	name, data, err := c.reg.upcast(r.Type, r.Data)
	if err != nil {
		return draft{}, err
	}
	d := draft{payload: reflect.New(c.reg.types[name]).Elem()}
	if err := json.Unmarshal(data, d.payload.Addr().Interface()); err != nil {
		return draft{}, fmt.Errorf("payload: %w", err)
	}
	if name != r.Type {
		if d.written, err = sealedPaths(r.Data); err != nil {
			return draft{}, fmt.Errorf("payload: %w", err)
		}
	}
	d.envelope = events.Envelope{ID: r.ID, Stream: r.Stream, Revision: r.Revision, Position: r.Position, Type: name}
	if err := json.Unmarshal(r.Metadata, &d.envelope.Meta); err != nil {
		return draft{}, fmt.Errorf("metadata: %w", err)
	}
	if meta := &d.envelope.Meta; meta.AggregateID.IsZero() {
		//nolint:forcetypeassert // the registry has events only
		meta.AggregateID = aggregateOf(d.payload.Interface().(events.Event), r.Stream)
	}
	if p, ok := d.payload.Interface().(events.AboutPerson); ok {
		d.person, d.subject = true, p.PersonalSubject()
	}
	return d, nil
}

// keysToOpen looks up the keys of all subjects of a page.
func (c *Codec) keysToOpen(ctx context.Context, page []draft) (map[uuid.UUID]Key, error) {
	wanted := map[uuid.UUID]bool{}
	for _, d := range page {
		if d.person {
			wanted[d.subject] = true
		}
		if !d.envelope.Meta.IP.IsZero() {
			wanted[d.envelope.Meta.IPSubject()] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return c.keys.Keys(ctx, slices.Collect(maps.Keys(wanted)))
}

// open opens the personal fields; those whose key is gone read as erased.
func (d draft) open(keys map[uuid.UUID]Key) (events.Envelope, error) {
	e := d.envelope
	if d.person {
		err := visit(d.payload, "", func(path string, t personal.Text) (personal.Text, error) {
			if d.written != nil {
				path = d.written[sealedKey(t)]
			}
			return unseal(keys[d.subject], e.ID, path, t)
		})
		if err != nil {
			return e, err
		}
	}
	ip, err := unseal(keys[e.Meta.IPSubject()], e.ID, ipPath, e.Meta.IP)
	if err != nil {
		return e, fmt.Errorf("metadata ip: %w", err)
	}
	e.Meta.IP = ip
	e.Event = d.payload.Interface().(events.Event)
	return e, nil
}

// sealedKey is the sealed form of a text as sealedPaths notes it.
func sealedKey(t personal.Text) string {
	body, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	var form map[string]string
	if json.Unmarshal(body, &form) != nil {
		return ""
	}
	return form[sealedField]
}

// unseal opens one text.
func unseal(key Key, event id.Event, path string, t personal.Text) (personal.Text, error) {
	if key == nil {
		return t.Open(nil)
	}
	return t.Open(func(sealed []byte) ([]byte, error) { return key.Open(sealed, associated(event, path)) })
}
