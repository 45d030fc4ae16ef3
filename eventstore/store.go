package eventstore

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// PageSize is the number of events that one read asks for, and that share one look-up of keys when decoded.
const PageSize = 512

// pageBytes ends a page before it has its number of events: events may have up to 1 MiB each.
const pageBytes = 8 << 20

// Config selects the store and the codec. Open checks it.
type Config struct {
	URL   string         // "esdb://host:port?tls=false"; see the client's manual for clusters
	Trust *x509.CertPool // authorities of its certificate; nil = those that the URL names, or else the machine's
	// Local gives a channel to the node at the URL, for appends, when the node is in this program. It is asked before
	// each call is opened. A Local that is nil, or gives nil, leaves appends to the network.
	Local  func() grpc.ClientConnInterface
	Codec  *catalog.Codec // required
	Logger *slog.Logger   // default: slog.Default
}

// Store reads and writes the log. Safe for concurrent use.
type Store struct {
	codec *catalog.Codec
	log   *slog.Logger
	link  *link
	beats *loop.Group

	foreign foreignEvents
}

// Open prepares the use of a store. It checks the syntax of the address and connects later; see Ping.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Codec == nil {
		return nil, errors.New("open event store: no codec")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	link, err := newLink(cfg)
	if err != nil {
		return nil, fmt.Errorf("open event store: %w", err)
	}
	beats := loop.Within(context.WithoutCancel(ctx), cfg.Logger)
	s := &Store{codec: cfg.Codec, log: cfg.Logger, link: link, beats: beats}
	s.foreign.log = cfg.Logger
	return s, nil
}

// Close ends the connection and every subscription. Calls after it fail. A second Close does nothing.
func (s *Store) Close() {
	s.link.close()
	s.beats.Stop()
}

// Times of the reads that notice silence when nobody calls.
const (
	beatEvery = time.Second
	beatLimit = 3 * time.Second // longer than silence
)

// Watch has lost called as soon as the store or the way to it may be away, and again and again while it is: when a call
// has no answer for two seconds, when one fails with ErrUnavailable, and when a subscription is interrupted. Until
// Close it reads the end of the log every second, because a network that swallows everything interrupts nothing. There
// is one watcher, and Close tells it nothing. lost must return at once.
func (s *Store) Watch(lost func()) {
	if s.link.lost.Swap(&lost) == nil {
		s.beats.Go("silence of the event store", s.beat)
	}
}

// beat reads the end of the log every second until ctx ends.
func (s *Store) beat(ctx context.Context) {
	for {
		limited, cancel := context.WithTimeout(ctx, beatLimit)
		_, _ = s.Head(limited) // those who watch are told of what matters
		cancel()
		if !loop.Sleep(ctx, beatEvery) {
			return
		}
	}
}

// Ping reads the end of the log and returns ErrUnavailable when the store does not answer.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.Head(ctx)
	return err
}

// Expected is the revision that a stream must have for an append: the number of its last event, or NoStream. There is
// no "any", because a writer must have read the stream that it writes to.
type Expected int64

// NoStream expects that the stream has no event.
const NoStream Expected = -1

// At expects that the stream's last event has this revision.
func At(revision uint64) Expected { return Expected(revision) }

// client converts to the client's type, which has a type of its own for "no stream".
func (e Expected) client() esdb.ExpectedRevision {
	if e < 0 {
		return esdb.NoStream{}
	}
	return esdb.Revision(uint64(e))
}

// New is an event to append. Meta.EventID must be set: an append repeated with the same ids is done once.
type New = catalog.Draft

// Appended says where the last event of an append stands.
type Appended struct {
	Revision uint64 // in its stream, from 0
	Position uint64 // in $all
}

// Append writes events at the end of a stream, all or none. It fails with ErrWrongRevision when the stream is not at
// the expected revision. It fails with ErrUnavailable when the outcome is unknown; then the caller may repeat the same
// append until the outcome is known.
func (s *Store) Append(ctx context.Context, stream string, expected Expected, list []New) (Appended, error) {
	if len(list) == 0 {
		return Appended{}, errors.New("append to " + stream + ": no events")
	}
	encoded, err := s.codec.Encode(ctx, list)
	if err != nil {
		return Appended{}, fmt.Errorf("append to %s: %w", stream, err)
	}
	done, err := callPrompt(ctx, s.link, func(ctx context.Context, on *session) (Appended, error) {
		if !on.shared.takes(encoded) {
			return Appended{}, errNotPrompt
		}
		c := on.shared.open()
		if c == nil {
			return Appended{}, errNotPrompt
		}
		return c.append(ctx, stream, expected, encoded)
	})
	if errors.Is(err, errNotPrompt) {
		done, err = call(ctx, s.link, func(ctx context.Context, on *session) (Appended, error) {
			if !on.shared.takes(encoded) {
				return appendAlone(ctx, on.client, stream, expected, encoded)
			}
			c, err := on.shared.shared(ctx)
			if err != nil {
				return Appended{}, err
			}
			return c.append(ctx, stream, expected, encoded)
		})
	}
	if err != nil {
		return Appended{}, fmt.Errorf("append to %s: %w", stream, withRevision(translate(err), stream, expected))
	}
	return done, nil
}

// errNotPrompt reports an append for which a call has to be opened: callers wait for that in a goroutine of their own.
var errNotPrompt = errors.New("no call is open for the append")

// appendAlone appends by a call of the client.
func appendAlone(
	ctx context.Context, c *esdb.Client, stream string, expected Expected, list []catalog.Encoded,
) (Appended, error) {
	data := make([]esdb.EventData, len(list))
	for i, e := range list {
		data[i] = esdb.EventData{
			EventID: e.ID.UUID(), EventType: e.Type, ContentType: esdb.ContentTypeJson, Data: e.Data,
			Metadata: e.Metadata,
		}
	}
	opts := esdb.AppendToStreamOptions{ExpectedRevision: expected.client()}
	done, err := c.AppendToStream(ctx, stream, opts, data...)
	if err != nil {
		return Appended{}, unsettled(ctx, err)
	}
	return Appended{Revision: done.NextExpectedVersion, Position: done.CommitPosition}, nil
}

// Read returns the events of a stream from a revision on, and none for a missing stream. When an event cannot be
// decoded, Read returns the events before it and a catalog.UndecodableError.
func (s *Store) Read(ctx context.Context, stream string, from uint64) ([]events.Envelope, error) {
	var out []events.Envelope
	for {
		page, more, err := s.ReadPage(ctx, stream, from, PageSize)
		out = append(out, page...)
		if err != nil || !more {
			return out, err
		}
		from = page[len(page)-1].Revision + 1
	}
}

// ReadPage is Read of at most limit events, and of fewer when they are large. more reports that the stream may have
// events after the page.
func (s *Store) ReadPage(
	ctx context.Context, stream string, from uint64, limit int,
) (page []events.Envelope, more bool, err error) {
	opts := esdb.ReadStreamOptions{Direction: esdb.Forwards, From: esdb.Revision(from)}
	raw, err := s.readStream(ctx, stream, opts, limit)
	if err != nil {
		return nil, false, fmt.Errorf("read %s from %d: %w", stream, from, err)
	}
	page, err = s.codec.Decode(ctx, raw.list)
	return page, err == nil && raw.more, err
}

// ReadLast returns the last event of a stream, or nil when the stream has no event.
func (s *Store) ReadLast(ctx context.Context, stream string) (*events.Envelope, error) {
	opts := esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}
	raw, err := s.readStream(ctx, stream, opts, 1)
	if err != nil {
		return nil, fmt.Errorf("read end of %s: %w", stream, err)
	}
	page, err := s.codec.Decode(ctx, raw.list)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	return &page[0], nil
}

// readStream reads one page of a stream and repeats the read while the store is unavailable. A missing stream is empty.
func (s *Store) readStream(
	ctx context.Context, stream string, opts esdb.ReadStreamOptions, count int,
) (rawPage, error) {
	return retryRead(ctx, s.link, func(ctx context.Context, on *session) (rawPage, error) {
		in, err := on.client.ReadStream(ctx, stream, opts, uint64(count))
		if err != nil {
			return rawPage{}, err
		}
		page, err := drain(in, count)
		var missing *esdb.Error
		if errors.As(err, &missing) && missing.Code() == esdb.ErrorCodeResourceNotFound {
			return rawPage{}, nil
		}
		return page, err
	})
}

// Head returns the position of the last event in the log, whatever its type; 0 for an empty log.
func (s *Store) Head(ctx context.Context) (uint64, error) {
	opts := esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}
	page, err := s.readAll(ctx, opts, 1)
	if err != nil || len(page.list) == 0 {
		return 0, err
	}
	return page.list[0].Position, nil
}

// ReadAll returns at most limit events after a position, and fewer when they are large, in order and only of the given
// types (nil = all types of the product). The second result is the position up to which ReadAll has searched, and from
// which the next call goes on. At the end of the log it equals after, and there are no events.
func (s *Store) ReadAll(
	ctx context.Context, after uint64, limit int, types []string,
) ([]events.Envelope, uint64, error) {
	wanted := s.matcher(types)
	var found []catalog.Recorded
	next, bytes := after, 0
	for bytes < pageBytes {
		opts := esdb.ReadAllOptions{Direction: esdb.Forwards, From: esdb.Start{}}
		if next > 0 {
			opts.From = esdb.Position{Commit: next, Prepare: next} // inclusive
		}
		page, err := s.readAll(ctx, opts, PageSize)
		if err != nil {
			return nil, after, err
		}
		before := next
		for _, e := range page.list {
			if e.Position <= before {
				continue
			}
			if len(found) == limit {
				break
			}
			next = e.Position
			if wanted(e) {
				found = append(found, e)
				bytes += sizeOf(e)
			}
		}
		if len(found) == limit || !page.more || next == before {
			break
		}
	}
	out, err := s.codec.Decode(ctx, found)
	return out, next, err
}

// readAll reads one page of the log and repeats the read while the store is unavailable.
func (s *Store) readAll(ctx context.Context, opts esdb.ReadAllOptions, count int) (rawPage, error) {
	page, err := retryRead(ctx, s.link, func(ctx context.Context, on *session) (rawPage, error) {
		in, err := on.client.ReadAll(ctx, opts, uint64(count))
		if err != nil {
			return rawPage{}, err
		}
		return drain(in, count)
	})
	if err != nil {
		return rawPage{}, fmt.Errorf("read log: %w", err)
	}
	return page, nil
}

// matcher returns a filter for stored events. It never admits the store's own types, which begin with "$", nor events
// of other applications. It admits versions of the types that this program does not know, so that a reader stops there
// and skips nothing.
func (s *Store) matcher(types []string) func(catalog.Recorded) bool {
	own := func(r catalog.Recorded) bool { return !strings.HasPrefix(r.Type, "$") && !s.foreign.passes(r) }
	if types == nil {
		return own
	}
	set, families := make(map[string]bool), make(map[string]bool)
	for _, t := range s.codec.StoredTypes(types) {
		set[t], families[catalog.Family(t)] = true, true
	}
	return func(r catalog.Recorded) bool {
		return own(r) && (set[r.Type] || families[catalog.Family(r.Type)] && !s.codec.Knows(r.Type))
	}
}

// prefixes returns the beginnings of the stored types, in all their versions, for the server's filter; nil = all.
func (s *Store) prefixes(types []string) []string {
	var all []string
	for _, t := range s.codec.StoredTypes(types) {
		all = append(all, strings.TrimRight(t, "0123456789"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rawPage is a part of a stream or of the log whose events are still encoded.
type rawPage struct {
	list []catalog.Recorded
	more bool // events may follow
}

// sizeOf is the number of bytes of an encoded event.
func sizeOf(e catalog.Recorded) int { return len(e.Data) + len(e.Metadata) }

// drain reads until the end of a read or until the page is large, and closes the read. A page has at least two events
// if there are so many, because the first one may be one that the caller had.
func drain(in *esdb.ReadStream, count int) (rawPage, error) {
	defer in.Close()
	var page rawPage // grows with what there is: most reads find an event or none
	for bytes := 0; ; {
		e, err := in.Recv()
		if errors.Is(err, io.EOF) {
			page.more = len(page.list) == count
			return page, nil
		}
		if err != nil {
			return rawPage{}, err
		}
		r := recorded(e)
		page.list = append(page.list, r)
		if bytes += sizeOf(r); bytes >= pageBytes && len(page.list) > 1 {
			page.more = true
			return page, nil
		}
	}
}

// recorded converts the client's event for the codec. It does not follow links: a link is an event like others.
func recorded(e *esdb.ResolvedEvent) catalog.Recorded {
	r := e.OriginalEvent()
	return catalog.Recorded{
		Encoded: catalog.Encoded{ID: id.Event(r.EventID), Type: r.EventType, Data: r.Data, Metadata: r.UserMetadata},
		Stream:  r.StreamID, Revision: r.EventNumber, Position: r.Position.Commit,
	}
}
