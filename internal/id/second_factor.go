package id

// secondFactor is the kind of identifiers of second factors.
type secondFactor struct{}

// SecondFactor identifies one enrolment of a second factor: after a removal the next one has another id.
type SecondFactor = Of[secondFactor]
