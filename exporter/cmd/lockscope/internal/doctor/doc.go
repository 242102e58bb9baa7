// Package doctor is lockscope doctor: it has all systems examined, and shows what package diagnosis says of them.
package doctor
