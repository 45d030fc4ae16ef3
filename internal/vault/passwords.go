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
	"github.com/lastmile-isp/lastmile/internal/fair"
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

// In a storm of sign-ins the late ones are refused (sign_in_busy): those that find hashLine waiting at the host of
// their organization, and those that have waited for hashWait.
const (
	hashLine = 100
	hashWait = 5 * time.Second
)

// storeWait bounds the storing of a password, which goes on when the caller has gone: as long as a request may take.
const storeWait = 30 * time.Second

// Passwords holds Argon2id hashes. At most one hash per processor is computed at a time, so that memory is bounded.
// Organizations have their turns, so that no one's requests delay the sign-ins of another; the zero organization stands
// for the root host, and the one of a method is that of the host of the request, whoever's password it is.
type Passwords struct {
	core   *core
	params Argon2
	turns  *fair.Slots
	dummy  passwordRow // compared when there is no such user, so that the answer takes as long
}

// PasswordHash is a password that is ready to be stored. The zero value fits no password.
type PasswordHash struct{ row passwordRow }

// Verified is the outcome of a comparison. The zero value is a password that was not right.
type Verified struct {
	user id.User
	hash []byte // as the vault had it, nil for a password that was not right
}

// Right reports whether the password was the user's.
func (v Verified) Right() bool { return v.hash != nil }

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
		core: c, params: params, turns: fair.NewBoundedSlots(runtime.GOMAXPROCS(0), hashLine),
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
	heldPasswordSQL = `select hash from {schema}.passwords where user_id = $1`
	replaceHeldSQL  = replacePasswordSQL + ` where passwords.hash = @old`
	fillPasswordSQL = `
insert into {schema}.passwords as p (user_id, salt, hash, memory_kib, passes, threads, set_at)
values (@user, @salt, @hash, @memory, @passes, @threads, @at)
on conflict (user_id) do update set salt = excluded.salt, hash = excluded.hash, memory_kib = excluded.memory_kib,
	passes = excluded.passes, threads = excluded.threads, set_at = excluded.set_at
where p.hash = ''`
	exchangePasswordSQL = `
update {schema}.passwords set salt = @salt, hash = @hash, memory_kib = @memory, passes = @passes, threads = @threads,
	set_at = @at
where user_id = @user and hash = @old`
	upgradePasswordSQL = `
update {schema}.passwords set
	salt = @salt, hash = @hash, memory_kib = @memory, passes = @passes, threads = @threads
where user_id = @user and hash = @old`
	getPasswordSQL = `
select salt, hash, memory_kib, passes, threads from {schema}.passwords where user_id = $1 and hash <> ''`
	// It waits for a change that has revoked sessions and is not committed yet.
	standsPasswordSQL = `
select exists (select from {schema}.passwords where user_id = $1 and hash = $2 for share)`
	voidPasswordsSQL = `
insert into {schema}.passwords (user_id, salt, hash, memory_kib, passes, threads, set_at)
select u, '', '', 0, 0, 0, $2 from unnest($1::uuid[]) as u
on conflict (user_id) do update set salt = excluded.salt, hash = excluded.hash, memory_kib = 0, passes = 0,
	threads = 0, set_at = excluded.set_at`
)

// Hash computes what is stored of a password. It is the slow part, and the one that can be refused, so it comes before
// the command that the password belongs to; Add, Replace, Fill or Exchange comes after the command. Fails:
// sign_in_busy.
func (p *Passwords) Hash(ctx context.Context, org id.Organization, password secrets.Text) (PasswordHash, error) {
	row, err := p.hashNew(ctx, org, password)
	return PasswordHash{row}, err
}

// Add stores the first password of a user. A password that the user has stays, and so does a void one: whoever adds it
// again repeats a request whose answer was lost, and the user may have chosen another one since.
func (p *Passwords) Add(ctx context.Context, user id.User, hash PasswordHash) error {
	_, err := p.store(ctx, addPasswordSQL, user, hash.row, nil)
	return err
}

// Replace stores a password in place of the one before, which the user has lost, and revokes sessions that the one
// before may have opened: both or neither.
func (p *Passwords) Replace(ctx context.Context, user id.User, hash PasswordHash, end Revocation) error {
	_, err := p.storeAndRevoke(ctx, replacePasswordSQL, Verified{user: user}, hash.row, end)
	return err
}

// Held is whatever stands in the place of a user's password at a moment: a password, a void one, or nothing.
type Held struct{ was Verified }

// Held gives what stands in the place of a user's password now, for ReplaceHeld.
func (p *Passwords) Held(ctx context.Context, user id.User) (Held, error) {
	held := Held{Verified{user: user}}
	err := p.core.db.Owner.QueryRow(ctx, p.core.sql(heldPasswordSQL), user).Scan(&held.was.hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Held{}, fmt.Errorf("look for password: %w", err)
	}
	return held, nil
}

// ReplaceHeld is Replace for what was held at an earlier moment. It reports false, and changes nothing, when something
// else has come in its place.
func (p *Passwords) ReplaceHeld(ctx context.Context, held Held, hash PasswordHash, end Revocation) (bool, error) {
	return p.storeAndRevoke(ctx, replaceHeldSQL, held.was, hash.row, end)
}

// Fill stores a password where the user has none or a void one.
func (p *Passwords) Fill(ctx context.Context, user id.User, hash PasswordHash) error {
	_, err := p.store(ctx, fillPasswordSQL, user, hash.row, nil)
	return err
}

// Exchange stores a password in place of the one that was verified, and revokes sessions that the one before may have
// opened: both or neither. It reports false, and changes nothing, when another password has come in between.
func (p *Passwords) Exchange(
	ctx context.Context, proven Verified, hash PasswordHash, end Revocation,
) (bool, error) {
	return p.storeAndRevoke(ctx, exchangePasswordSQL, proven, hash.row, end)
}

// storeAndRevoke writes a hash like store, and where that changes a row it revokes sessions in the same transaction.
func (p *Passwords) storeAndRevoke(
	ctx context.Context, sql string, old Verified, row passwordRow, end Revocation,
) (changed bool, err error) {
	err = p.lasting(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, p.core.sql(sql), p.arguments(old.user, row, old.hash))
		if changed = done.RowsAffected() > 0; err != nil || !changed {
			return err
		}
		_, err = p.core.revoke(ctx, tx, end)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store password: %w", err)
	}
	return changed, nil
}

// lasting runs a transaction that ends also when the caller has gone: the command that the password belongs to has
// acted.
func (p *Passwords) lasting(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	return pgx.BeginFunc(ctx, p.core.db.Owner, func(tx pgx.Tx) error { return do(ctx, tx) })
}

// arguments are those of the statements that store a hash; old is the hash before, for statements that ask for it.
func (p *Passwords) arguments(user id.User, row passwordRow, old []byte) pgx.NamedArgs {
	args := row.named(user)
	args["at"], args["old"] = p.core.now(), old
	return args
}

// store writes a hash and reports whether it changed a row; old is the hash before, for statements that ask for it. It
// ends also when the caller has gone: the command that the password belongs to has acted.
func (p *Passwords) store(
	ctx context.Context, sql string, user id.User, row passwordRow, old []byte,
) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	done, err := p.core.db.Owner.Exec(ctx, p.core.sql(sql), p.arguments(user, row, old))
	if err != nil {
		return false, fmt.Errorf("store password: %w", err)
	}
	return done.RowsAffected() > 0, nil
}

// Verify compares a password with the user's. For an unknown user, the zero id included, and for one whose password is
// void, it does the same work and finds it wrong. Fails: sign_in_busy.
func (p *Passwords) Verify(
	ctx context.Context, org id.Organization, user id.User, password secrets.Text,
) (Verified, error) {
	stored, err := p.load(ctx, user)
	known := err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		stored, err = p.dummy, nil
	}
	if err != nil {
		return Verified{}, fmt.Errorf("verify password: %w", err)
	}
	hash, err := p.hash(ctx, org, password, stored)
	if err != nil {
		return Verified{}, err
	}
	if subtle.ConstantTimeCompare(hash, stored.Hash) != 1 || !known {
		return Verified{}, nil
	}
	if (Argon2{stored.MemoryKiB, stored.Passes, stored.Threads}) != p.params {
		return p.upgrade(ctx, org, user, stored, password)
	}
	return Verified{user, stored.Hash}, nil
}

// Stands reports whether a password that was verified is still the user's.
func (p *Passwords) Stands(ctx context.Context, proven Verified) (bool, error) {
	var stands bool
	err := p.core.db.Owner.QueryRow(ctx, p.core.sql(standsPasswordSQL), proven.user, proven.hash).Scan(&stands)
	if err != nil {
		return false, fmt.Errorf("look for password: %w", err)
	}
	return stands, nil
}

// Void makes the passwords of users worthless, and keeps the place of each, so that Add fills none of them. In the same
// transaction it revokes sessions. It ends also when the caller has gone.
func (p *Passwords) Void(ctx context.Context, users []id.User, end Revocation) error {
	err := p.lasting(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, p.core.sql(voidPasswordsSQL), id.Texts(users), p.core.now()); err != nil {
			return err
		}
		_, err := p.core.revoke(ctx, tx, end)
		return err
	})
	if err != nil {
		return fmt.Errorf("void passwords: %w", err)
	}
	return nil
}

// load reads a user's hash. Fails with pgx.ErrNoRows when the user has none, or a void one.
func (p *Passwords) load(ctx context.Context, user id.User) (passwordRow, error) {
	rows, _ := p.core.db.Owner.Query(ctx, p.core.sql(getPasswordSQL), user)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[passwordRow])
}

// upgrade replaces the hash of a right password that was made with old parameters. Its failure is only logged: the next
// sign-in tries again. When somebody else has replaced the hash meanwhile, the password is compared again.
func (p *Passwords) upgrade(
	ctx context.Context, org id.Organization, user id.User, old passwordRow, password secrets.Text,
) (Verified, error) {
	row, err := p.hashNew(ctx, org, password)
	changed := false
	if err == nil {
		changed, err = p.store(ctx, upgradePasswordSQL, user, row, old.Hash)
	}
	switch {
	case err != nil:
		p.core.logger.WarnContext(ctx, "password hash not upgraded", "user_id", user, "error", err)
		return Verified{user, old.Hash}, nil
	case !changed:
		return p.Verify(ctx, org, user, password)
	}
	return Verified{user, row.Hash}, nil
}

// hashNew hashes with a new salt and the parameters of today.
func (p *Passwords) hashNew(ctx context.Context, org id.Organization, password secrets.Text) (passwordRow, error) {
	row := passwordRow{
		Salt: make([]byte, saltSize), MemoryKiB: p.params.MemoryKiB, Passes: p.params.Passes, Threads: p.params.Threads,
	}
	_, _ = rand.Read(row.Salt) // never fails
	var err error
	row.Hash, err = p.hash(ctx, org, password, row)
	return row, err
}

// hash waits for a turn of the organization and computes the hash with the row's salt and parameters. Fails:
// sign_in_busy.
func (p *Passwords) hash(
	ctx context.Context, org id.Organization, password secrets.Text, row passwordRow,
) ([]byte, error) {
	waiting, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if err := p.turns.Enter(waiting, org); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("hash password: %w", ctx.Err())
		}
		return nil, failure.NewUnavailable("sign_in_busy", "Too many people are signing in at once. Please try again.",
			hashWait, nil)
	}
	defer p.turns.Leave(org)
	return argon2.IDKey([]byte(password.Reveal()), row.Salt, row.Passes, row.MemoryKiB, row.Threads, hashSize), nil
}
