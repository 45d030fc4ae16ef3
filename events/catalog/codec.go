package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// forgottenCode is the failure code of Keys for a subject whose key was destroyed.
const forgottenCode = "subject_forgotten"

// ipPath binds a sealed address to its place, together with the event's id. It has a space, so that no payload field
// has the same name.
const ipPath = "metadata ip"

// saidPath does the same for the reason that a person gave.
const saidPath = "metadata said"

// Codec writes events as JSON with sealed personal fields, and reads them again. It is safe for concurrent use.
type Codec struct {
	keys Keys
	reg  *registry
}

// New makes the codec for all event types of the product.
func New(keys Keys) *Codec { return &Codec{keys: keys, reg: standard} }

// Draft is an event to write. Meta.EventID must be set.
type Draft struct {
	Event events.Event
	Meta  events.Metadata
}

// Encoded is an event in the form that the log stores.
type Encoded struct {
	ID       id.Event
	Type     string
	Data     []byte // JSON
	Metadata []byte // JSON
}

// Recorded is an event in the form that the log returns, with its place.
type Recorded struct {
	Encoded
	Stream   string
	Revision uint64
	Position uint64
}

// UndecodableError reports an event in the log that cannot be read. A reader that meets one must stop.
type UndecodableError struct {
	ID       id.Event
	Stream   string
	Revision uint64
	Position uint64
	Type     string
	OrgID    id.Organization // of the metadata; zero = none, or the metadata cannot be read either
	Cause    error
}

// Error names the event's place and the cause.
func (e *UndecodableError) Error() string {
	return fmt.Sprintf("undecodable event %s at %s revision %d position %d: %v", e.Type, e.Stream, e.Revision,
		e.Position, e.Cause)
}

// Unwrap is the reason why the event cannot be read.
func (e *UndecodableError) Unwrap() error { return e.Cause }

// StoredTypes lists the names under which the log may have events of the given types, old versions included. nil stays
// nil, which means all types.
func (c *Codec) StoredTypes(types []string) []string {
	if types == nil {
		return nil
	}
	return c.reg.stored(types)
}

// Knows reports whether the codec can read events that the log has under a name.
func (c *Codec) Knows(stored string) bool {
	_, err := c.reg.present(stored)
	return err == nil
}

// Encode seals and writes events. It makes one look-up for the keys of all subjects.
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

// keysToSeal returns the keys of all subjects and makes missing ones. The address of a forgotten actor and remarks
// about a forgotten person are dropped; a forgotten subject of another event is an error.
func (c *Codec) keysToSeal(ctx context.Context, drafts []Draft) (map[uuid.UUID]Key, error) {
	subjects, droppable := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, d := range drafts {
		if e, ok := d.Event.(events.Remark); ok {
			droppable[e.PersonalSubject()] = true
		} else if e, ok := d.Event.(events.AboutPerson); ok {
			subjects[e.PersonalSubject()] = true
		}
		if !d.Meta.IP.IsZero() {
			droppable[d.Meta.IPSubject()] = true
		}
		if !d.Meta.Said.IsZero() {
			droppable[saidSubject(d.Event, d.Meta)] = true
		}
	}
	both := maps.Clone(subjects)
	maps.Copy(both, droppable)
	if len(both) == 0 {
		return nil, nil
	}
	keys, err := c.keys.EnsureKeys(ctx, slices.Collect(maps.Keys(both)))
	if failure.CodeOf(err) != forgottenCode || len(droppable) == 0 {
		return keys, err
	}
	if keys, err = c.keys.EnsureKeys(ctx, slices.Collect(maps.Keys(subjects))); err != nil {
		return nil, err
	}
	merged := maps.Clone(keys)
	if merged == nil {
		merged = map[uuid.UUID]Key{}
	}
	for subject := range droppable { // one by one: each may be the forgotten one
		some, err := c.keys.EnsureKeys(ctx, []uuid.UUID{subject})
		if err != nil && failure.CodeOf(err) != forgottenCode {
			return nil, err
		}
		maps.Copy(merged, some)
	}
	return merged, nil
}

// saidSubject is the person whom the reason of an event is about. Events that were recorded without it are about the
// subject of their personal fields, else about the actor.
func saidSubject(e events.Event, m events.Metadata) uuid.UUID {
	if !m.SaidOf.IsZero() {
		return m.SaidOf.UUID()
	}
	if e, ok := e.(events.AboutPerson); ok {
		return e.PersonalSubject()
	}
	return m.IPSubject()
}

// encode writes one event. It seals a copy, so that the caller's event stays as it is.
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
		_, remark := e.(events.Remark)
		err := c.reg.texts.visit(payload, "", func(path string, t personal.Text) (personal.Text, error) {
			if remark && key == nil {
				return personal.Text{}, nil
			}
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
	meta, err := sealSaid(d, keys)
	if err != nil {
		return Encoded{}, err
	}
	if key := keys[meta.IPSubject()]; key == nil {
		meta.IP = personal.Text{}
	} else if meta.IP, err = seal(key, meta.EventID, ipPath, meta.IP); err != nil {
		return Encoded{}, err
	}
	metadata, err := encodeMetadata(&meta)
	if err != nil {
		return Encoded{}, fmt.Errorf("metadata: %w", err)
	}
	return Encoded{ID: meta.EventID, Type: name, Data: data, Metadata: metadata}, nil
}

// sealSaid is the metadata with the reason of a person sealed, or without it when the person was forgotten.
func sealSaid(d Draft, keys map[uuid.UUID]Key) (events.Metadata, error) {
	meta := d.Meta
	if meta.Said.IsZero() {
		meta.SaidOf = id.Any{}
		return meta, nil
	}
	subject := saidSubject(d.Event, meta)
	meta.SaidOf = id.Any(subject)
	key := keys[subject]
	if key == nil {
		meta.Said = personal.Text{}
		return meta, nil
	}
	said, err := seal(key, meta.EventID, saidPath, meta.Said)
	if err != nil {
		return meta, fmt.Errorf("metadata said: %w", err)
	}
	meta.Said = said
	return meta, nil
}

// seal seals one text for its event and its place. An erased text is written as an empty one.
func seal(key Key, event id.Event, path string, t personal.Text) (personal.Text, error) {
	if key == nil && t.Reveal() != "" {
		return personal.Text{}, fmt.Errorf("no key of the subject")
	}
	return t.Seal(func(plain []byte) ([]byte, error) { return key.Seal(plain, associated(event, path)), nil })
}

// associated is the additional data of a seal: a sealed text opens only in its event and at its place.
func associated(event id.Event, path string) []byte { return append(event[:], path...) }

// Decode reads the events of one page with one look-up of keys. When an event cannot be read, it returns the events
// before it and an UndecodableError. Any other error is about the keys and comes without events.
func (c *Codec) Decode(ctx context.Context, page []Recorded) ([]events.Envelope, error) {
	parsed, poison := c.parseAll(page)
	keys, err := c.keysToOpen(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("decode events: %w", err)
	}
	out := make([]events.Envelope, 0, len(parsed))
	for i, p := range parsed {
		e, err := p.open(keys, c.reg.texts)
		if err != nil {
			return out, undecodable(page[i], err)
		}
		out = append(out, e)
	}
	return out, poison
}

// leastParsed is the least number of events for which another processor is worth its goroutine.
const leastParsed = 32

// parseAll parses events, with all processors where there are many: JSON takes the most time when a log is read. It
// gives those before the first one that cannot be parsed, and the error of that one.
func (c *Codec) parseAll(page []Recorded) ([]draft, error) {
	parsed := make([]draft, len(page))
	parts := max(1, min(runtime.GOMAXPROCS(0), len(page)/leastParsed))
	failed := make([]int, parts) // the first event of each part that cannot be parsed; len(page) = none
	faults, panicked := make([]error, parts), make([]any, parts)
	work := func(part int) {
		defer func() { panicked[part] = recover() }() // the caller's goroutine is the one that is watched
		failed[part] = len(page)
		for i := part * len(page) / parts; i < (part+1)*len(page)/parts; i++ {
			if err := c.parse(page[i], &parsed[i]); err != nil {
				failed[part], faults[part] = i, undecodable(page[i], err)
				return
			}
		}
	}
	var group sync.WaitGroup
	for part := 1; part < parts; part++ {
		group.Go(func() { work(part) })
	}
	work(0)
	group.Wait()
	for part := range parts {
		if panicked[part] != nil {
			panic(panicked[part])
		}
		if faults[part] != nil {
			return parsed[:failed[part]], faults[part]
		}
	}
	return parsed, nil
}

// undecodable adds the place of the event to the reason.
func undecodable(r Recorded, cause error) error {
	var meta events.Metadata
	if json.Unmarshal(r.Metadata, &meta) != nil {
		meta = events.Metadata{}
	}
	return &UndecodableError{
		ID: r.ID, Stream: r.Stream, Revision: r.Revision, Position: r.Position, Type: r.Type, OrgID: meta.OrgID,
		Cause: cause,
	}
}

// draft is an event whose personal fields are still sealed.
type draft struct {
	envelope events.Envelope
	payload  reflect.Value // settable
	subject  uuid.UUID     // of the payload's personal fields
	person   bool          // true: it has personal fields
	// place at which each sealed form was written; nil when the version is present and places have not moved
	written map[string]string
}

// parse reads the JSON of an event and converts it to the present version. It opens no seals.
func (c *Codec) parse(r Recorded, d *draft) error {
	name, data, err := c.reg.upcast(r.Type, r.Data)
	if err != nil {
		return err
	}
	own := reflect.New(c.reg.types[name])
	d.payload = own.Elem()
	if err := json.Unmarshal(data, own.Interface()); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	if name != r.Type {
		if d.written, err = sealedPaths(r.Data); err != nil {
			return fmt.Errorf("payload: %w", err)
		}
	}
	d.envelope = events.Envelope{ID: r.ID, Stream: r.Stream, Revision: r.Revision, Position: r.Position, Type: name}
	if err := decodeMetadata(r.Metadata, &d.envelope.Meta); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	if meta := &d.envelope.Meta; meta.AggregateID.IsZero() {
		//nolint:forcetypeassert // the registry has events only
		meta.AggregateID = aggregateOf(d.payload.Interface().(events.Event), r.Stream)
	}
	if p, ok := own.Interface().(events.AboutPerson); ok { // the payload itself would be copied
		d.person, d.subject = true, p.PersonalSubject()
	}
	d.findSaid()
	return nil
}

// findSaid makes a personal text of a reason that a user gave before reasons were sealed, and finds its subject. Other
// actors have no key of their own, so their old reasons stay as they were recorded unless the event is about a person.
func (d *draft) findSaid() {
	meta := &d.envelope.Meta
	if meta.Said.IsZero() && meta.Reason != "" && (meta.Actor.Kind == events.ActorUser ||
		d.person && meta.Actor.Kind != events.ActorProcess && meta.Actor.Kind != events.ActorProvider) {
		meta.Said, meta.Reason = personal.Bare(meta.Reason), ""
	}
	if !meta.Said.IsZero() {
		//nolint:forcetypeassert // the registry has events only
		meta.SaidOf = id.Any(saidSubject(d.payload.Interface().(events.Event), *meta))
	}
}

// keysToOpen looks up the keys of all subjects of a page. Destroyed keys are missing from the result.
func (c *Codec) keysToOpen(ctx context.Context, page []draft) (map[uuid.UUID]Key, error) {
	wanted := map[uuid.UUID]bool{}
	for _, d := range page {
		if d.person {
			wanted[d.subject] = true
		}
		if !d.envelope.Meta.IP.IsZero() {
			wanted[d.envelope.Meta.IPSubject()] = true
		}
		if !d.envelope.Meta.Said.IsZero() {
			wanted[d.envelope.Meta.SaidOf.UUID()] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return c.keys.Keys(ctx, slices.Collect(maps.Keys(wanted)))
}

// open opens the personal fields. Fields whose key was destroyed read as erased.
func (d draft) open(keys map[uuid.UUID]Key, texts places) (events.Envelope, error) {
	e := d.envelope
	if d.person {
		err := texts.visit(d.payload, "", func(path string, t personal.Text) (personal.Text, error) {
			if d.written != nil {
				path = d.written[sealedKey(t)]
			}
			return unseal(keys[d.subject], e.ID, path, t)
		})
		if err != nil {
			return e, err
		}
	}
	var err error
	if !e.Meta.IP.IsZero() { // most have none, and the subject is the outcome of a hash
		if e.Meta.IP, err = unseal(keys[e.Meta.IPSubject()], e.ID, ipPath, e.Meta.IP); err != nil {
			return e, fmt.Errorf("metadata ip: %w", err)
		}
	}
	if e.Meta.Said, err = unseal(keys[e.Meta.SaidOf.UUID()], e.ID, saidPath, e.Meta.Said); err != nil {
		return e, fmt.Errorf("metadata said: %w", err)
	}
	e.Event = d.payload.Interface().(events.Event)
	return e, nil
}

// sealedKey is the sealed form of a text, as sealedPaths lists it; "" for a text that is not sealed.
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

// unseal opens one text; without a key it becomes an erased text.
func unseal(key Key, event id.Event, path string, t personal.Text) (personal.Text, error) {
	if key == nil {
		return t.Open(nil)
	}
	return t.Open(func(sealed []byte) ([]byte, error) { return key.Open(sealed, associated(event, path)) })
}
