package redact

// The samples are put together at run time, so that scanners of this repository find none.

const base62 = "aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0kPlOmNnMoLpKqJrIsHtGuFvEwDxCyBzA"

// alnum returns n characters that look generated.
func alnum(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = base62[(i*7+i/9)%len(base62)]
	}
	return string(b)
}

// hexs returns n hex digits.
func hexs(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[(i*11+i/5+3)%16]
	}
	return string(b)
}

func upper(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "Q3XJ7KZP2MWD5RTV"[(i*7+i/5)%16]
	}
	return string(b)
}
