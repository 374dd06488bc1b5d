// SPDX-License-Identifier: MIT
// Runs models with ONNX Runtime's CPU provider on one thread.
//
// usage: node run_ort.js FOLDER < LIST
// FOLDER holds node_modules. LIST is a JSON array of
//   { model, input, output, optimise, inputs: [{ name, type, dims }], outputs: [name] }
// Bytes of the inputs, one after the other, are read from the file `input`;
// those of the outputs are written to `output`. One line a model is printed:
// "ok" or what ONNX Runtime said.
'use strict';

const fs = require('fs');
const path = require('path');

const ort = require(path.join(process.argv[2], 'node_modules', 'onnxruntime-node'));

const TYPES = {
	float32: [Float32Array, 4], int8: [Int8Array, 1], uint8: [Uint8Array, 1],
	int32: [Int32Array, 4], int64: [BigInt64Array, 8],
};

function options(test) {
	return {
		executionProviders: ['cpu'],
		graphOptimizationLevel: test.optimise,
		intraOpNumThreads: 1,
		interOpNumThreads: 1,
		executionMode: 'sequential',
		logSeverityLevel: 3,
		// int8 QDQ pairs are fused as uint8 ones are.
		extra: { session: { qdqisint8allowed: '1', intra_op: { allow_spinning: '0' } } },
	};
}

function feeds(test) {
	const bytes = fs.readFileSync(test.input);
	const result = {};
	let at = bytes.byteOffset;

	for (const input of test.inputs) {
		const [array, size] = TYPES[input.type];
		const count = input.dims.reduce((a, b) => a * b, 1);
		// A copy is aligned, whatever the inputs before it were.
		const data = new array(bytes.buffer.slice(at, at + count * size));

		at += count * size;
		result[input.name] = new ort.Tensor(input.type, data, input.dims);
	}
	return result;
}

async function run(test) {
	const session = await ort.InferenceSession.create(test.model, options(test));
	const found = await session.run(feeds(test), test.outputs);
	const parts = test.outputs.map(name => {
		const data = found[name].data;

		return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
	});

	fs.writeFileSync(test.output, Buffer.concat(parts));
	await session.release();
}

async function main() {
	for (const test of JSON.parse(fs.readFileSync(0, 'utf8'))) {
		try {
			await run(test);
			console.log('ok');
		} catch (error) {
			console.log(String(error.message).split('\n')[0] || 'failed');
		}
	}
}

main();
