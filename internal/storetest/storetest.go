// Package storetest gives each test a real event store: an embedded node of its own on a real PostgreSQL, and a store
// connected to it.
package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync/atomic"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// Kit is a store with the node, database and keys that it uses.
type Kit struct {
	Store *eventstore.Store
	Keys  *catalog.MemoryKeys
	DB    *postgres.DB
	Node  *embedded.Node

	t       pgtest.T
	addr    string
	serving atomic.Pointer[embedded.Node] // is Node, for the stores
}

// template has the tables of the event store.
var template = pgtest.NewTemplate(Prepare)

// Prepare makes the tables of the event store, for a template of databases (pgtest.NewTemplate).
func Prepare(ctx context.Context, db *postgres.DB) error {
	node, err := startNode(ctx, db, "127.0.0.1:0")
	if err != nil {
		return err
	}
	return node.Stop(ctx)
}

// New starts a node with an empty log and opens a store on it. Both are stopped at the end of the test.
func New(t pgtest.T) *Kit { return On(t, template.New(t)) }

// On is New with a database that the test has already.
func On(t pgtest.T, db *postgres.DB) *Kit {
	t.Helper()
	k := &Kit{Keys: catalog.NewMemoryKeys(), DB: db, t: t, addr: FreeAddr(t)}
	k.StartNode()
	k.Store = k.open(k.local)
	t.Cleanup(k.StopNode)
	return k
}

// Ports of nodes are below those that the system uses for outgoing connections, so that no connection can take the port
// of a node while the node is down.
const (
	firstPort = 20000
	ports     = 12000
)

// FreeAddr is a free loopback address with a port from firstPort on.
func FreeAddr(t pgtest.T) string {
	t.Helper()
	var l net.Listener
	var err error
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(ports))
		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatalf("find a free port: %v", err)
	return ""
}

// Addr is where the node listens.
func (k *Kit) Addr() string { return k.addr }

// Open opens another store on the node, over the network, as another program would. It is closed at the end of the
// test.
func (k *Kit) Open() *eventstore.Store { return k.open(nil) }

// open opens a store with a way to the node.
func (k *Kit) open(local func() grpc.ClientConnInterface) *eventstore.Store {
	k.t.Helper()
	s, err := eventstore.Open(context.Background(), eventstore.Config{
		URL: k.Node.URL(), Local: local, Codec: catalog.New(k.Keys), Logger: Quiet(),
	})
	if err != nil {
		k.t.Fatalf("open store: %v", err)
	}
	k.t.Cleanup(s.Close)
	return s
}

// local leads the stores to the node as long as it runs.
func (k *Kit) local() grpc.ClientConnInterface {
	if node := k.serving.Load(); node != nil {
		return node.Local()
	}
	return nil
}

// StartNode starts the node at the address that it had before StopNode, with the same log.
func (k *Kit) StartNode() {
	k.t.Helper()
	node, err := startNode(context.Background(), k.DB, k.addr)
	if err != nil {
		k.t.Fatalf("start event store node: %v", err)
	}
	k.Node = node
	k.serving.Store(node)
}

// startNode starts a node at an address, with its log in the schema of all kits.
func startNode(ctx context.Context, db *postgres.DB, addr string) (*embedded.Node, error) {
	return embedded.Start(ctx, embedded.Config{
		Pool: db.Owner, Schema: db.Namespace.Schema("log"), Addr: addr, Logger: Quiet(), Clock: clock.System(),
	})
}

// StopNode stops the node; its clients see the same as after a crash. A second call does nothing.
func (k *Kit) StopNode() {
	k.t.Helper()
	if k.Node == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
	defer cancel()
	if err := k.Node.Stop(ctx); err != nil {
		k.t.Errorf("stop event store node: %v", err)
	}
	k.Node = nil
	k.serving.Store(nil)
}

// RestoreNode stops the node and starts it with the log as it was at a position, as after a restore from a backup.
func (k *Kit) RestoreNode(position uint64) {
	k.t.Helper()
	k.StopNode()
	schema := k.DB.Namespace.Schema("log")
	for _, sql := range []string{
		`delete from ` + schema + `.events where position > $1`,
		`delete from ` + schema + `.type_blocks where (block + 1) * 1024 > $1`,
		`delete from ` + schema + `.streams s where $1 > 0 and not exists (
			select from ` + schema + `.events e where e.stream_id = s.id)`,
	} {
		if _, err := k.DB.Owner.Exec(context.Background(), sql, int64(position)); err != nil { //nolint:gosec // fits
			k.t.Fatalf("restore the log: %v", err)
		}
	}
	k.StartNode()
}

// SetData is the statement that replaces the data of the events in a log's schema that a condition chooses. Data and
// condition are SQL over the columns of its readable_events. A node keeps what it has read, so it must not run.
func SetData(schema, data, condition string) string {
	return `update ` + schema + `.events stored set record = ` + schema + `.event_record(stored.position,
			stored.stream_id, stored.revision, event_id, type, is_json, created, metadata, ` + data + `)
		from ` + schema + `.readable_events e where e.position = stored.position and ` + condition
}

// Quiet returns a logger that writes nothing.
func Quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// ClaimKey derives keys of unique values as the vault does, but without the vault's secret.
func ClaimKey(kind, value string) uuid.UUID {
	sum := sha256.Sum256([]byte(kind + "\x00" + value))
	return uuid.UUID(sum[:16])
}
