// Package doctor is lockscope doctor: it examines all systems and shows the results of package diagnosis.
package doctor
