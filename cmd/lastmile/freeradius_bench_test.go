package main

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"layeh.com/radius"
)

// Where Debian's packages freeradius and freeradius-postgresql put the program, its queries and its tables.
const (
	freeradiusProgram = "/usr/sbin/freeradius"
	freeradiusUser    = "freerad"
	freeradiusQueries = "/etc/freeradius/3.0/mods-config/sql/main/postgresql/queries.conf"
	freeradiusSchema  = "/etc/freeradius/3.0/mods-config/sql/main/postgresql/schema.sql"
)

// freeradiusConf is the configuration: the shipped queries, and of the shipped policies those that answer routers and
// keep what they report. Nothing is logged, refused late, or proxied, and each of the threads has a connection.
//
//go:embed testdata/freeradius.conf
var freeradiusConf string

// mergedQuery gives the replies of a subscriber and of his group at once, in place of three shipped queries.
const mergedQuery = `read_groups = no
		authorize_reply_query = "SELECT id, UserName, Attribute, Value, Op FROM @SCHEMA@.radreply \
			WHERE Username = '%{SQL-User-Name}' UNION ALL SELECT g.id, u.UserName, g.Attribute, g.Value, g.Op \
			FROM @SCHEMA@.radusergroup u JOIN @SCHEMA@.radgroupreply g ON g.GroupName = u.GroupName \
			WHERE u.UserName = '%{SQL-User-Name}'"`

// freeradius is a running FreeRADIUS.
type freeradius struct{ access, accounting netip.AddrPort }

// freeradiusSchema is where the tables of FreeRADIUS are, in the database of the town.
func (t *town) freeradiusSchema() string { return t.db.Namespace.Schema("freeradius") }

// withoutFreeradius reports whether FreeRADIUS is not installed, or cannot run as its own user, and makes a row that
// says so.
func withoutFreeradius(b *testing.B) bool {
	_, err := os.Stat(freeradiusProgram)
	if _, errSQL := os.Stat(freeradiusSchema); err == nil && errSQL == nil && os.Geteuid() == 0 {
		return false
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1, "freeradius_missing")
	b.Log("root and Debian's packages freeradius and freeradius-postgresql are needed")
	return true
}

// freeradiusTables makes the shipped tables with the subscribers of a town, and gives the address of their database.
func (t *town) freeradiusTables(b *testing.B) string {
	b.Helper()
	schema, err := os.ReadFile(freeradiusSchema)
	if err != nil {
		b.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(string(t.config().DatabaseURL))
	if err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(b.Context(), "create schema "+t.freeradiusSchema()+"; set search_path = "+t.freeradiusSchema()+
		";"+string(schema)+fmt.Sprintf(`;
		insert into radcheck (username, attribute, op, value) select 'subscriber-' || lpad(n::text, 6, '0'),
			'Cleartext-Password', ':=', 'password ' || lpad(n::text, 6, '0') from generate_series(0, %[1]d) n;
		insert into radreply (username, attribute, op, value) select 'subscriber-' || lpad(n::text, 6, '0'),
			'Session-Timeout', ':=', '86400' from generate_series(0, %[1]d) n;
		insert into radusergroup (username, groupname) select 'subscriber-' || lpad(n::text, 6, '0'), 'home'
			from generate_series(0, %[1]d) n;
		insert into radgroupreply (groupname, attribute, op, value) values
			('home', 'Mikrotik-Rate-Limit', ':=', '5M/10M 10M/16M 4M/8M 10/10'),
			('home', 'Framed-Pool', ':=', 'homes'), ('home', 'Acct-Interim-Interval', ':=', '300')`,
		t.subscribers-1))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), "vacuum analyze"); err != nil {
		b.Fatal(err)
	}
	server := cfg.Host
	if filepath.IsAbs(server) { // a socket, whose directory the own user of FreeRADIUS may not enter
		server = "127.0.0.1"
	}
	return fmt.Sprintf("server = %q\n\t\tport = %d\n\t\tlogin = %q\n\t\tpassword = %q\n\t\tradius_db = %q",
		server, cfg.Port, cfg.User, cfg.Password, cfg.Database)
}

// startFreeradius starts a FreeRADIUS on free ports of the loopback network until the end of the benchmark. queries
// replace shipped ones.
func (t *town) startFreeradius(b *testing.B, tables, queries string) freeradius {
	b.Helper()
	dir, err := os.MkdirTemp("", "lastmile-freeradius-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	who, err := user.Lookup(freeradiusUser)
	if err != nil {
		b.Fatal(err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	f := freeradius{freeUDPPort(b), freeUDPPort(b)}
	conf := strings.NewReplacer("@DIR@", dir, "@ACCESS@", strconv.Itoa(int(f.access.Port())), "@ACCOUNTING@",
		strconv.Itoa(int(f.accounting.Port())), "@SECRET@", townSecret, "@TABLES@", tables, "@SHIPPED@",
		freeradiusQueries, "@QUERIES@", queries,
		"@SCHEMA@", t.freeradiusSchema()).Replace(freeradiusConf)
	file := filepath.Join(dir, "radiusd.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if err := os.Chown(path, uid, gid); err != nil {
			b.Fatal(err)
		}
	}
	var log logBuffer
	cmd := exec.CommandContext(context.Background(), freeradiusProgram, "-f", "-l", "stdout", "-d", dir,
		"-n", "radiusd")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, //nolint:gosec // from the system
		Pdeathsig:  syscall.SIGTERM,
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	f.await(b, &log)
	return f
}

// freeUDPPort is an address at which nobody listens.
func freeUDPPort(b *testing.B) netip.AddrPort {
	b.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// await waits until a subscriber can sign in.
func (f freeradius) await(b *testing.B, log *logBuffer) {
	b.Helper()
	few := town{subscribers: 1}
	request := few.signIns(b, 1, provePAP)[0].packet
	first := func(*caller) ([]byte, byte, []byte) { return request, byte(radius.CodeAccessAccept), nil }
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = newCallers(b, f.access, 1)[0].send(first); err == nil {
			return
		}
	}
	b.Fatalf("FreeRADIUS does not answer: %v\n%s", err, log.last(20))
}
