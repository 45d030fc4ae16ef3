package vault

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/argon2"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Argon2 has the cost parameters of Argon2id. Each stored hash keeps its own.
type Argon2 struct {
	MemoryKiB uint32
	Passes    uint32
	Threads   uint8
}

// DefaultArgon2 is OWASP's recommendation for one thread. One hash takes about 20 ms.
var DefaultArgon2 = Argon2{MemoryKiB: 19 * 1024, Passes: 2, Threads: 1}

// Sizes of salts and hashes, in bytes.
const (
	saltSize = 16
	hashSize = 32
)

// hashWait bounds the wait for a free processor. In a storm of sign-ins the late ones are refused (sign_in_busy).
const hashWait = 5 * time.Second

// storeWait bounds the storing of a password, which goes on when the caller has gone.
const storeWait = 5 * time.Second

// Passwords holds Argon2id hashes. At most one hash per processor is computed at a time, so that memory is bounded.
type Passwords struct {
	core   *core
	params Argon2
	turns  chan struct{}
	dummy  passwordRow // compared when there is no such user, so that the answer takes as long
}

// PasswordHash is a password that is ready to be stored. The zero value fits no password.
type PasswordHash struct{ row passwordRow }

// passwordRow is a stored hash with its salt and the parameters that it was made with.
type passwordRow struct {
	Salt      []byte
	Hash      []byte
	MemoryKiB uint32 `db:"memory_kib"`
	Passes    uint32
	Threads   uint8
}

// named gives the row as arguments of the statements that write it.
func (r passwordRow) named(user id.User) pgx.NamedArgs {
	return pgx.NamedArgs{
		"user": user, "salt": r.Salt, "hash": r.Hash, "memory": r.MemoryKiB, "passes": r.Passes, "threads": r.Threads,
	}
}

// newPasswords makes the part. params are for new hashes; stored ones keep theirs until the next sign-in.
func newPasswords(c *core, params Argon2) *Passwords {
	return &Passwords{
		core: c, params: params, turns: make(chan struct{}, runtime.GOMAXPROCS(0)),
		dummy: passwordRow{
			make([]byte, saltSize), make([]byte, hashSize), params.MemoryKiB, params.Passes, params.Threads,
		},
	}
}

// SQL of passwords.
const (
	addPasswordSQL = `
insert into {schema}.passwords (user_id, salt, hash, memory_kib, passes, threads, set_at)
values (@user, @salt, @hash, @memory, @passes, @threads, @at)
on conflict (user_id) do nothing`
	replacePasswordSQL = `
insert into {schema}.passwords (user_id, salt, hash, memory_kib, passes, threads, set_at)
values (@user, @salt, @hash, @memory, @passes, @threads, @at)
on conflict (user_id) do update set salt = excluded.salt, hash = excluded.hash, memory_kib = excluded.memory_kib,
	passes = excluded.passes, threads = excluded.threads, set_at = excluded.set_at`
	getPasswordSQL     = `select salt, hash, memory_kib, passes, threads from {schema}.passwords where user_id = $1`
	upgradePasswordSQL = `
update {schema}.passwords set
	salt = @salt, hash = @hash, memory_kib = @memory, passes = @passes, threads = @threads
where user_id = @user and hash = @old`
	deletePasswordSQL = `delete from {schema}.passwords where user_id = $1`
)

// Hash computes what is stored of a password. It is the slow part, and the one that can be refused, so it comes before
// the command that the password belongs to; Add or Replace comes after the command. Fails: sign_in_busy.
func (p *Passwords) Hash(ctx context.Context, password secrets.Text) (PasswordHash, error) {
	row, err := p.hashNew(ctx, password)
	return PasswordHash{row}, err
}

// Add stores the first password of a user. A password that the user has stays: whoever adds it again repeats a request
// whose answer was lost, and the user may have chosen another one since.
func (p *Passwords) Add(ctx context.Context, user id.User, hash PasswordHash) error {
	return p.store(ctx, addPasswordSQL, user, hash)
}

// Replace stores a password in place of the one before, which the user has proven or lost.
func (p *Passwords) Replace(ctx context.Context, user id.User, hash PasswordHash) error {
	return p.store(ctx, replacePasswordSQL, user, hash)
}

// store writes a hash. It ends also when the caller has gone: the command that the password belongs to has acted.
func (p *Passwords) store(ctx context.Context, sql string, user id.User, hash PasswordHash) error {
	args := hash.row.named(user)
	args["at"] = p.core.now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(sql), args); err != nil {
		return fmt.Errorf("store password: %w", err)
	}
	return nil
}

// Verify reports whether the password is the user's. For an unknown user, the zero id included, it does the same work
// and gives false. Fails: sign_in_busy.
func (p *Passwords) Verify(ctx context.Context, user id.User, password secrets.Text) (bool, error) {
	stored, err := p.load(ctx, user)
	known := err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		stored, err = p.dummy, nil
	}
	if err != nil {
		return false, fmt.Errorf("verify password: %w", err)
	}
	hash, err := p.hash(ctx, password, stored)
	if err != nil {
		return false, err
	}
	ok := subtle.ConstantTimeCompare(hash, stored.Hash) == 1 && known
	if ok && (Argon2{stored.MemoryKiB, stored.Passes, stored.Threads}) != p.params {
		p.upgrade(ctx, user, stored, password)
	}
	return ok, nil
}

// Delete removes a user's password; a missing one is no error.
func (p *Passwords) Delete(ctx context.Context, user id.User) error {
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(deletePasswordSQL), user); err != nil {
		return fmt.Errorf("delete password: %w", err)
	}
	return nil
}

// load reads a user's hash. Fails with pgx.ErrNoRows when the user has none.
func (p *Passwords) load(ctx context.Context, user id.User) (passwordRow, error) {
	rows, _ := p.core.db.Owner.Query(ctx, p.core.sql(getPasswordSQL), user)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[passwordRow])
}

// upgrade replaces a hash with old parameters, unless the password was changed meanwhile. Its failure is only logged:
// the next sign-in tries again.
func (p *Passwords) upgrade(ctx context.Context, user id.User, old passwordRow, password secrets.Text) {
	row, err := p.hashNew(ctx, password)
	if err == nil {
		args := row.named(user)
		args["old"] = old.Hash
		_, err = p.core.db.Owner.Exec(ctx, p.core.sql(upgradePasswordSQL), args)
	}
	if err != nil {
		p.core.logger.WarnContext(ctx, "password hash not upgraded", "user_id", user, "error", err)
	}
}

// hashNew hashes with a new salt and the parameters of today.
func (p *Passwords) hashNew(ctx context.Context, password secrets.Text) (passwordRow, error) {
	row := passwordRow{
		Salt: make([]byte, saltSize), MemoryKiB: p.params.MemoryKiB, Passes: p.params.Passes, Threads: p.params.Threads,
	}
	_, _ = rand.Read(row.Salt) // never fails
	var err error
	row.Hash, err = p.hash(ctx, password, row)
	return row, err
}

// hash waits for a free processor and computes the hash with the row's salt and parameters. Fails: sign_in_busy.
func (p *Passwords) hash(ctx context.Context, password secrets.Text, row passwordRow) ([]byte, error) {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-wait.C:
		return nil, failure.NewUnavailable("sign_in_busy", "Too many people are signing in at once. Please try again.",
			hashWait, nil)
	case <-ctx.Done():
		return nil, fmt.Errorf("hash password: %w", ctx.Err())
	}
	return argon2.IDKey([]byte(password.Reveal()), row.Salt, row.Passes, row.MemoryKiB, row.Threads, hashSize), nil
}
