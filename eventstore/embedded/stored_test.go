package embedded_test

import (
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// wholeRecords checks that each record has the place of its row, and that the functions of the schema take it apart and
// make the same of the parts.
func wholeRecords(t *testing.T, cfg embedded.Config) {
	t.Helper()
	var rows, whole int
	query(t, cfg, `select count(*), count(*) filter (where e.record = {schema}.event_record(e.position, e.stream_id,
			e.revision, r.event_id, r.type, r.is_json, r.created, r.metadata, r.data))
		from {schema}.events e left join {schema}.readable_events r using (position)`, &rows, &whole)
	if rows == 0 || whole != rows {
		t.Errorf("%d of %d records are whole", whole, rows)
	}
}

// TestStored_SQLReadsWhatTheNodeWrites: the functions and the view of the schema know the form of records that the node
// writes, of every kind and size.
func TestStored_SQLReadsWhatTheNodeWrites(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	binary, long, bare := oneEvent(), oneEvent(), oneEvent()
	binary.ContentType, binary.Data, binary.Metadata = esdb.ContentTypeBinary, []byte{0, 255, '\\'}, []byte{0, 1}
	long.EventType, long.Data = strings.Repeat("é", 512), []byte(`"`+strings.Repeat("long ", 100_000)+`"`)
	long.Metadata = []byte(`"` + strings.Repeat("also long ", 30_000) + `"`)
	bare.EventType, bare.Data, bare.Metadata = "$", nil, nil
	mustAppend(t, client, "s", esdb.NoStream{}, oneEvent(), binary, long, bare)
	mustAppend(t, client, "ended", esdb.NoStream{}, oneEvent())
	deleteStream(t, client, "s")
	if _, err := client.TombstoneStream(t.Context(), "ended", esdb.TombstoneStreamOptions{}); err != nil {
		t.Fatal(err)
	}
	wholeRecords(t, cfg)
	var kind, text string
	var metadata, data []byte
	query(t, cfg, `select type, convert_from(data, 'UTF8'), metadata, (
			select data from {schema}.readable_events where stream = 's' and revision = 1)
		from {schema}.readable_events where stream = 's' and revision = 2`, &kind, &text, &metadata, &data)
	if kind != long.EventType || text != string(long.Data) || string(metadata) != string(long.Metadata) {
		t.Errorf("a long event is read by SQL with %d, %d and %d bytes", len(kind), len(text), len(metadata))
	}
	if string(data) != string(binary.Data) {
		t.Errorf("binary data is read by SQL as %q", data)
	}
}

// TestStored_AMalformedRecordIsAnErrorOfItsReaders, and the node goes on.
func TestStored_AMalformedRecordIsAnErrorOfItsReaders(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
	mustAppend(t, client, "other", esdb.NoStream{}, oneEvent())
	for _, record := range []string{`''`, `substring(record for 40)`, `substring(record for 50)`,
		`overlay(record placing '\x7fff' from 1)`, `overlay(record placing '\xffffff' from 45)`} {
		run(t, cfg, `update {schema}.events set record = `+record+` where stream_id = (
			select id from {schema}.streams where name = 's')`)
		r, err := client.ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, 1)
		if err == nil {
			_, err = r.Recv()
			r.Close()
		}
		if status.Code(unwrapped(err)) != codes.Internal {
			t.Errorf("%s is read: %v", record, err)
		}
	}
	mustAppend(t, client, "other", esdb.Revision(0), oneEvent())
	wantAlive(t, n)
}

// TestStored_MalformedMetadataHoldsNobodyUp: it says nothing, and what looks at many records goes on, from the start of
// the node.
func TestStored_MalformedMetadataHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, record := range []string{`''`, `substring(record for 1)`, `substring(record for 20)`,
		`substring(record for 50)`, `overlay(record placing '\xffffff' from 45)`} {
		cfg := testConfig(t)
		n := start(t, cfg)
		client := contract.Connect(t, n.URL())
		for range 3 {
			mustAppend(t, client, "behind", esdb.Any{}, oneEvent())
		}
		deleteStream(t, client, "behind")
		mustAppend(t, client, "a", esdb.NoStream{}, oneEvent())
		setMeta(t, client, "a", func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
		stop(t, n)
		run(t, cfg, `update {schema}.events set record = `+record+` where stream_id = (
			select id from {schema}.streams where name = '$$a')`) // the last event of the log
		n = start(t, cfg)
		client = contract.Connect(t, n.URL())
		mustAppend(t, client, "a", esdb.Revision(0), oneEvent())
		mustAppend(t, client, "other", esdb.NoStream{}, oneEvent())
		if err := embedded.Scavenge(t.Context(), n, nil); err != nil || n.Scavenged().Events != 2 {
			t.Errorf("%s: scavenged %+v, %v", record, n.Scavenged(), err)
		}
		var epoch int
		if query(t, cfg, `select epoch from {schema}.node`, &epoch); epoch != 2 {
			t.Errorf("%s: epoch %d", record, epoch)
		}
	}
}

// TestStored_NothingIsKeptOfALargeGroup, which is encoded beside its events while it is committed.
func TestStored_NothingIsKeptOfALargeGroup(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.MaxAppendSize = 8 << 20
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	large := oneEvent()
	large.ContentType, large.Data = esdb.ContentTypeBinary, make([]byte, 6<<20)
	mustAppend(t, client, "s", esdb.NoStream{}, large)
	if got := embedded.Encoded(n); got > embedded.StoredKept {
		t.Errorf("%d bytes are kept", got)
	}
}

// TestStored_OfMetadataOnlyTheDataIsRead: what rules a stream is read often, and what its writer noted beside it never.
func TestStored_OfMetadataOnlyTheDataIsRead(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	read := countedReads(t, &cfg)
	client := contract.Connect(t, start(t, cfg).URL())
	mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
	rules := oneEvent()
	rules.EventType, rules.Data, rules.Metadata = "$metadata", []byte(`{"$maxCount":1}`), make([]byte, 6<<20)
	mustAppend(t, client, "$$s", esdb.NoStream{}, rules)
	before := read.Load()
	r, err := client.ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Recv(); err != nil {
		t.Fatal(err)
	}
	if got := read.Load() - before; got > 100_000 {
		t.Errorf("PostgreSQL sent %d bytes", got)
	}
}

// TestStored_PlacesThatLeadNowhereEndARead: a record says that it is at another place than its row. Readers are told
// instead of getting the same page again and again.
func TestStored_PlacesThatLeadNowhereEndARead(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	client := contract.Connect(t, start(t, cfg).URL())
	batch := make([]esdb.EventData, 2000)
	for i := range batch {
		batch[i] = oneEvent()
	}
	mustAppend(t, client, "s", esdb.NoStream{}, batch...)
	for _, way := range []struct {
		direction   esdb.Direction
		all         esdb.AllPosition
		own         esdb.StreamPosition
		where, says string
	}{
		{esdb.Forwards, esdb.Start{}, esdb.Revision(100), `position > 200`, `000000000010`},
		{esdb.Backwards, esdb.End{}, esdb.End{}, `position < 1800`, `00000000ffff`},
	} {
		run(t, cfg, `update {schema}.events set record = overlay(overlay(record placing '\x`+way.says+`' from 27)
			placing '\x`+way.says+`' from 39) where `+way.where)
		all, err := client.ReadAll(t.Context(), esdb.ReadAllOptions{Direction: way.direction, From: way.all}, 5000)
		wantEnd(t, all, err)
		own, err := client.ReadStream(t.Context(), "s",
			esdb.ReadStreamOptions{Direction: way.direction, From: way.own}, 5000)
		wantEnd(t, own, err)
	}
}

// wantEnd checks that a read ends with an error of the node.
func wantEnd(t *testing.T, r *esdb.ReadStream, err error) {
	t.Helper()
	read := 0
	for ; err == nil; read++ {
		_, err = r.Recv()
	}
	if r != nil {
		r.Close()
	}
	if status.Code(unwrapped(err)) != codes.Internal {
		t.Errorf("%d events, %v", read, err)
	}
}
