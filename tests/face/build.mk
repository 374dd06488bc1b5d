# SPDX-License-Identifier: MIT
# A face detector on photographs: make demo NET=face. What it reads comes by data.sh.
FACE := $(O)/tests/face/face
FACE_NPU := $(O)/tests/face/face.npu
FACE_SAMPLES := $(O)/tests/face/samples.npy
FACE_DATA = $(eval FACE_DATA := $(shell tests/face/data.sh))$(or $(FACE_DATA),$(error no face detector))
FACE_PICTURES = $(addprefix $(FACE_DATA)/,grace_hopper.jpg astronaut.png coffee.png)
FACE_TRAINING = $(FACE_PICTURES) $(addprefix $(FACE_DATA)/,chelsea.png rocket.jpg)

$(O)/tests/face/%.o: CPPFLAGS += -D_GNU_SOURCE $(LIBNPU_CPPFLAGS)
$(FACE): $(addprefix $(O)/tests/face/,face.o image.o detector.o samples.o) \
		$(LIBNPU_OUT)/libnpu.so | $(O)/firmware/cp/npu_fw.bin
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(DEMO_RPATH) -o $@ $(filter %.o,$^) -L$(LIBNPU_OUT) -lnpu \
		-lpng -ljpeg -lm

# Quantised on parts of the photographs.
$(FACE_NPU): $(FACE) $(TOOL) tests/face/data.sh
	$(call say,NPU,$@)
	$(Q)$(FACE) --samples $(FACE_SAMPLES) $(FACE_TRAINING)
	$(Q)tests/face/bound_scores.py $(FACE_DATA)/face.onnx $(@:.npu=.onnx)
	$(Q)$(TOOL) compile $(@:.npu=.onnx) --calibrate $(FACE_SAMPLES) --quiet -o $@

TESTS_NATIVE += tests/face/test_face.py
tests/face/test_face.py: | $(FACE) $(TOOL)

ifeq ($(NET),face)
DEMO := $(FACE)
DEMO_ADD = $(FACE_NPU) $(foreach p,$(FACE_PICTURES),$(p):/npu/$(notdir $(p)))
DEMO_ARGS = --module $(FACE_NPU) --out $(O)/tests/face $(if $(MAKE_TERMOUT),$(if $(NO_COLOR),,--color)) \
	$(notdir $(FACE_PICTURES))
# The pictures with boxes come out of the machine.
DEMO_SHARE = $(O)/tests/face:/npu/$(O)/tests/face
run-demo: $(FACE_NPU)
endif
