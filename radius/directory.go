package radius

// Directory knows who may sign in. It answers from memory: a socket waits for it. Safe for concurrent use.
type Directory interface {
	// Find returns the credential of the user that a request of the NAS names, nil when there is none. The request's
	// slices must not be kept.
	Find(nas *NAS, r *Request) *Credential

	// Decide is called once for each request, after its proof was checked, and fills the reply. A reply that it leaves
	// alone is a reject. Whatever it does, a request that is not Verified is rejected.
	Decide(question Question, reply *Reply)
}

// Credential is the password or device that a user proves to have. It is shared and must not change; a changed password
// is a new credential.
type Credential struct {
	Password []byte   // nothing proves an empty one
	NTHash   [16]byte // by NTHash, for MS-CHAP
	// ByMAC is for devices that a hotspot signs in by their MAC alone: any request with MACLogin is verified, no other.
	ByMAC   bool
	Subject any // the directory's own value, such as a pointer to the subscription
}

// Outcome is the result of checking a proof.
type Outcome uint8

// The outcomes.
const (
	UnknownUser Outcome = iota
	Verified
	WrongPassword
	NoProof    // no password in any form, or in a form that is not supported
	BadRequest // attributes that contradict each other or have impossible lengths
)

// String is the word for logs and counts.
func (o Outcome) String() string {
	return [...]string{"unknown_user", "verified", "wrong_password", "no_proof", "bad_request"}[o]
}

// Question is a sign-in whose proof was checked.
type Question struct {
	NAS        *NAS
	Request    *Request
	Credential *Credential // nil for an unknown user
	Outcome    Outcome
}
